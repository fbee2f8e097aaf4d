#include "cmd/learned_policy.h"

#include <fmt/core.h>

#include <map>
#include <set>
#include <vector>

#include "base/strings.h"

namespace paddock::cmd {
namespace {

using model::EgressEvent;
using model::EgressEventKind;
using model::EgressVerdict;

struct Wanted {
  std::set<uint16_t> ports;
  std::set<std::string> protocols;
  std::set<std::string> methods;
  std::set<std::string> paths;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string list_of(const std::set<std::string>& texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) parts.push_back(quoted(text));
  return "[" + join(parts, ", ") + "]";
}

bool is_address(const std::string& host) {
  return host.find(':') != std::string::npos ||
         host.find_first_not_of("0123456789.") == std::string::npos;
}

// The rule's word for what was seen on the wire; "any" for several.
std::string protocol_of(const Wanted& wanted) {
  if (wanted.protocols.size() != 1) return "";
  const std::string& seen = *wanted.protocols.begin();
  if (seen == "tls" || seen == "ssh" || seen == "http") return seen;
  if (seen == "https" || seen == "h2") return "https";
  return seen == "tcp" ? "tcp" : "";
}

std::string rule_of(const std::string& host, const Wanted& wanted) {
  std::vector<std::string> ports;
  for (uint16_t port : wanted.ports) ports.push_back(std::to_string(port));
  std::string text =
      fmt::format("[[egress.rule]]\naction = \"allow\"\n{} = [{}]\nports = [{}]\n",
                  is_address(host) ? "addresses" : "hosts", quoted(host), join(ports, ", "));
  if (const std::string protocol = protocol_of(wanted); !protocol.empty())
    text += "protocol = " + quoted(protocol) + "\n";
  if (!wanted.methods.empty()) {
    text += "methods = " + list_of(wanted.methods) + "\n";
    text += "paths = " + list_of(wanted.paths) + "\n";
  }
  return text;
}

bool was_let_through_to_learn(const EgressEvent& event) {
  return event.verdict == EgressVerdict::audited ||
         (event.verdict == EgressVerdict::failed && event.rule == "egress:learn");
}

}  // namespace

std::string learned_policy(const model::NetworkRecord& record) {
  std::map<std::string, Wanted> by_host;
  std::set<std::string> refused;
  for (const EgressEvent& event : record.events) {
    if (event.verdict == EgressVerdict::denied)
      refused.insert(
          fmt::format("# not let out: {}: {}\n", printable(event.host), printable(event.reason)));
    const bool asked_gate =
        event.kind == EgressEventKind::connection || event.kind == EgressEventKind::request;
    if (!asked_gate || !was_let_through_to_learn(event)) continue;
    Wanted& wanted = by_host[event.host];
    wanted.ports.insert(event.port);
    if (!event.protocol.empty()) wanted.protocols.insert(event.protocol);
    if (event.kind != EgressEventKind::request) continue;
    wanted.methods.insert(event.method);
    wanted.paths.insert(event.path);
  }
  std::string text;
  for (const auto& [host, wanted] : by_host)
    text += (text.empty() ? "" : "\n") + rule_of(host, wanted);
  for (const std::string& line : refused) text += line;
  return text;
}

}  // namespace paddock::cmd
