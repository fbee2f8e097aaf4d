// The key that the gate shows as an ssh server: one of this installation, beside the authority for
// TLS. Never enters a sandbox.
#pragma once

#include <string>

#include "base/result.h"
#include "egress/credentials/secret.h"

namespace paddock::egress::ssh {

struct HostKey {
  Secret private_key;      // in OpenSSH's form
  std::string public_key;  // "ssh-ed25519 AAAA…"
};

// Makes it when it is not there; two processes agree on one. failed_precondition: others can read
// it.
Result<HostKey> open_host_key(const std::string& directory);

}  // namespace paddock::egress::ssh
