// A git program on the real host, reached by ssh.
#pragma once

#include <memory>

#include "egress/credentials/credential_set.h"
#include "egress/ssh/helper.h"

namespace paddock::egress::ssh {

struct HostCommand {
  const std::string& program;  // paddock-ssh
  const Target& target;
  const SshIdentity& identity;
  const std::vector<std::string>& known_hosts;
  std::string command;
  std::string git_protocol;
};

// Runs there when it returns. permission_denied: the host is unknown, or does not let us in.
Result<std::unique_ptr<Helper>> start_on_host(net::Task& task, net::Stream& stream,
                                              const HostCommand& what);

// The key that a policy binds to this host. permission_denied: none.
Result<SshIdentity> identity_for(const CredentialSet* credentials, const Target& target);

}  // namespace paddock::egress::ssh
