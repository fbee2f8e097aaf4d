#include "engine/ssh_trust.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::engine {
namespace {

// The port of ssh is not written. A range stands for every port but that: what no rule lets through
// never shows a key.
void add_forms(const std::string& host, const model::TextList& ports, std::set<std::string>& out) {
  for (const std::string& port : ports) {
    const bool single = parse_u64(port).has_value();
    if (port == "22" || !single) out.insert(host);
    if (port != "22") out.insert("[" + host + "]:" + (single ? port : "*"));
  }
}

}  // namespace

std::vector<std::string> opened_ssh_hosts(const model::EgressPolicy& policy) {
  std::set<std::string> out;
  for (const auto& rules : policy.lists) {
    for (const model::EgressRule& rule : rules) {
      if (rule.protocol != model::EgressProtocol::git || !rule.hosts) continue;
      for (const std::string& host : *rule.hosts) {
        add_forms(host, rule.ports.value_or(model::TextList{"22"}), out);
      }
    }
  }
  return {out.begin(), out.end()};
}

std::string known_hosts_text(const std::vector<std::string>& hosts, std::string_view public_key) {
  std::string out;
  for (const std::string& host : hosts) out += host + " " + std::string(public_key) + "\n";
  return out;
}

std::vector<std::string> known_hosts_files(const model::HostPath& home) {
  return {home.empty() ? "/dev/null" : (home / ".ssh/known_hosts").str(),
          "/etc/ssh/ssh_known_hosts"};
}

std::string ssh_program_beside(const model::HostPath& agent_program) {
  const std::string& path = agent_program.str();
  const std::string program = path.substr(0, path.find_last_of('/') + 1) + "paddock-ssh";
  return sys::exists(program) ? program : std::string();
}

}  // namespace paddock::engine
