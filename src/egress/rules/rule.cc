#include "egress/rules/rule.h"

#include <algorithm>

namespace paddock::egress {
namespace {

using model::EgressProtocol;

// Of a protocol that the first bytes show.
Match match_wire(Wire seen, Wire wanted) {
  switch (seen) {
    case Wire::nothing_yet:
      return Match::more_bytes;
    case Wire::silent:
    case Wire::other:
      return Match::unknown;
    default:
      return seen == wanted ? Match::yes : Match::no;
  }
}

// A client that offers protocols by ALPN means HTTP only when it offers that.
bool may_be_http(const tls::ClientHello* hello) {
  if (hello == nullptr || hello->protocols.empty()) return true;
  return std::any_of(hello->protocols.begin(), hello->protocols.end(), [](const std::string& name) {
    return name == "h2" || name.starts_with("http/");
  });
}

// Of a condition on requests, before there is one.
Match match_until_request(const Seen& seen) {
  switch (seen.wire) {
    case Wire::nothing_yet:
    case Wire::http:
      return Match::more_bytes;
    case Wire::tls:
      if (!may_be_http(seen.hello)) return Match::unknown;
      if (seen.opening == Opening::done) return Match::more_bytes;
      return seen.opening == Opening::possible ? Match::open : Match::unknown;
    case Wire::ssh:
      return Match::no;
    case Wire::silent:
    case Wire::other:
      return Match::unknown;
  }
  return Match::unknown;
}

// Of git over ssh, before its command is seen.
Match match_until_command(const Seen& seen) {
  if (seen.opening == Opening::possible) return Match::open;
  return seen.opening == Opening::done ? Match::more_bytes : Match::unknown;
}

Match both(Match a, Match b) {
  for (Match worst : {Match::no, Match::more_bytes, Match::open, Match::unknown, Match::hold}) {
    if (a == worst || b == worst) return worst;
  }
  return Match::yes;
}

}  // namespace

bool Rule::covers_host(const Host& host) const {
  const auto* name = std::get_if<HostName>(&host);
  if (name == nullptr) {
    const auto& address = std::get<model::IpAddress>(host);
    if (source_.every_public_address) return true;  // whether it is public, the dialler looks
    return hosts_.empty() && !source_.hosts &&
           std::any_of(addresses_.begin(), addresses_.end(),
                       [&](const model::Cidr& block) { return block.contains(address); });
  }
  if (source_.every_public_host) return true;
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [&](const HostPattern& pattern) { return pattern.matches(*name); });
}

bool Rule::covers(const Target& target) const {
  return ports_.contains(target.port) && covers_host(target.host);
}

bool Rule::is_unconditional() const {
  const bool any_bytes =
      source_.protocol == EgressProtocol::any || source_.protocol == EgressProtocol::tcp;
  return any_bytes && http_.empty() && source_.git.empty();
}

bool Rule::names_exactly(const model::IpAddress& address) const {
  return source_.authority == model::EgressAuthority::admin &&
         std::any_of(addresses_.begin(), addresses_.end(), [&](const auto& block) {
           return block.is_single() && block.base() == address;
         });
}

Match Rule::match_protocol(const Seen& seen) const {
  switch (source_.protocol) {
    case EgressProtocol::any:
    case EgressProtocol::tcp:
      return Match::yes;
    case EgressProtocol::tls:
      return match_wire(seen.wire, Wire::tls);
    case EgressProtocol::https:
      return both(match_wire(seen.wire, Wire::tls),
                  may_be_http(seen.hello) ? Match::yes : Match::no);
    case EgressProtocol::http:
      return match_wire(seen.wire, Wire::http);
    case EgressProtocol::ssh:
      return match_wire(seen.wire, Wire::ssh);
    case EgressProtocol::git:
      return match_git(seen);
  }
  return Match::unknown;
}

Match Rule::match_http(const Seen& seen) const {
  if (http_.empty()) return Match::yes;
  if (seen.request == nullptr) return match_until_request(seen);
  const bool met = lets_through() ? http_.grants(*seen.request) : http_.refuses(*seen.request);
  return met ? Match::yes : Match::no;
}

Match Rule::match_git(const Seen& seen) const {
  if (seen.git == nullptr && seen.request == nullptr) {
    return seen.wire == Wire::ssh ? match_until_command(seen) : match_until_request(seen);
  }
  if (seen.git == nullptr) return Match::no;
  const GitMeaning meaning = git_meaning(source_.git, *seen.git, source_.action);
  if (meaning == GitMeaning::needs_refs) return Match::more_bytes;
  if (meaning == GitMeaning::held) return Match::hold;
  return meaning == GitMeaning::met ? Match::yes : Match::no;
}

Match Rule::matches(const Target& target, const Seen& seen) const {
  if (!covers(target)) return Match::no;
  const Match match = both(match_protocol(seen), match_http(seen));
  const bool look_inside = source_.inspect == model::Inspection::always && lets_through() &&
                           seen.wire == Wire::tls && seen.opening == Opening::possible;
  return match == Match::yes && look_inside ? Match::open : match;
}

}  // namespace paddock::egress
