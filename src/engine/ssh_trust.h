// How programs inside come to know the gate as the ssh server of the hosts whose git it opens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/egress.h"
#include "model/paths.h"

namespace paddock::engine {

// Where OpenSSH and its kin look for keys of hosts.
inline constexpr const char* kKnownHostsInside = "/etc/ssh/ssh_known_hosts";

// As known_hosts writes hosts: for exactly the names and ports of rules on git, each once.
std::vector<std::string> opened_ssh_hosts(const model::EgressPolicy& policy);
std::string known_hosts_text(const std::vector<std::string>& hosts, std::string_view public_key);

// Files that this host's user knows ssh's hosts by.
std::vector<std::string> known_hosts_files(const model::HostPath& home);

// paddock-ssh beside the other programs; empty: it is not installed.
std::string ssh_program_beside(const model::HostPath& agent_program);

}  // namespace paddock::engine
