#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "egress/names/address_class.h"
#include "egress/names/synthetic.h"
#include "egress/rules/rule.h"

namespace paddock::egress {
namespace {

using model::Cidr;
using model::EgressAction;
using model::EgressProtocol;
using model::EgressRule;
using model::TextList;

Error refused(std::string why) {
  return Error(Code::invalid_argument, std::move(why));
}

Status check_destination(const EgressRule& rule) {
  if ((rule.every_public_host || rule.every_public_address) && (rule.hosts || rule.addresses)) {
    return refused("names hosts beside every public one");
  }
  if (rule.action == EgressAction::deny && rule.hosts && rule.addresses) {
    return refused("refuses hosts and addresses at once").set_remedy("write a rule for each");
  }
  if (!rule.hosts && !rule.addresses && !rule.every_public_host && !rule.every_public_address) {
    return refused("names no destination").set_remedy("add \"hosts\" or \"addresses\"");
  }
  return {};
}

Status check_conditions(const EgressRule& rule) {
  const bool carries_http = rule.protocol == EgressProtocol::any ||
                            rule.protocol == EgressProtocol::http ||
                            rule.protocol == EgressProtocol::https;
  if (!rule.http.empty() && !carries_http) {
    return refused(fmt::format("has conditions on HTTP, but its protocol is {}",
                               name_of(model::kEgressProtocolNames, rule.protocol)));
  }
  if (!rule.git.empty() && rule.protocol != EgressProtocol::git) {
    return refused("has conditions on git, but its protocol is not git");
  }
  if (!rule.git.hold.empty() && rule.action != EgressAction::allow) {
    return refused("holds pushes for review, and its action is not allow")
        .set_remedy("write \"hold\" in the rule that allows the repository");
  }
  if (!rule.http.empty() && rule.inspect == model::Inspection::never) {
    return refused("has conditions on HTTP and is exempt from inspection");
  }
  if (rule.budget.rate && rule.budget.rate->seconds == 0)
    return refused("has a rate per 0 seconds");
  return {};
}

// The addresses that are not public are the administrator's to give, one by one.
Status check_address(const EgressRule& rule, const Cidr& block) {
  if (rule.action == EgressAction::deny || is_all_global(block)) return {};
  if (!block.is_single()) {
    return refused(fmt::format("{} holds addresses that are not public", block.str()))
        .set_remedy("an admin rule may name such addresses, one by one");
  }
  const std::string_view kind = name_of(kAddressClassNames, classify(block.base()));
  if (SyntheticAddresses::is_synthetic(block.base())) {
    return refused(fmt::format("{} stands for a name inside sandboxes", block.str()));
  }
  if (rule.authority != model::EgressAuthority::admin) {
    return refused(fmt::format("{} is a {} address", block.str(), kind))
        .set_remedy("only an admin rule may name it");
  }
  return {};
}

Result<std::vector<Cidr>> compile_addresses(const EgressRule& rule) {
  std::vector<Cidr> out;
  for (const std::string& text : rule.addresses.value_or(TextList())) {
    out.push_back(PD_TRY_CTX("addresses", Cidr::parse(text)));
    PD_TRY(check_address(rule, out.back()));
  }
  return out;
}

Result<std::vector<HostPattern>> compile_hosts(const EgressRule& rule) {
  const SharedSuffix shared = rule.action == EgressAction::deny ? SharedSuffix::anything
                              : rule.shared_suffix              ? SharedSuffix::accepted
                                                                : SharedSuffix::refused;
  std::vector<HostPattern> out;
  for (const std::string& text : rule.hosts.value_or(TextList())) {
    out.push_back(PD_TRY(HostPattern::parse(text, shared)));
  }
  return out;
}

Result<PortSet> compile_ports(const EgressRule& rule) {
  if (rule.ports) return PortSet::parse(*rule.ports);
  if (rule.action == EgressAction::deny) return PortSet::all();
  switch (rule.protocol) {
    case EgressProtocol::any:
      return PortSet::of({{80, 80}, {443, 443}});
    case EgressProtocol::http:
      return PortSet::of({{80, 80}});
    case EgressProtocol::tls:
    case EgressProtocol::https:
      return PortSet::of({{443, 443}});
    case EgressProtocol::ssh:
      return PortSet::of({{22, 22}});
    case EgressProtocol::git:
      return PortSet::of({{22, 22}, {443, 443}});
    case EgressProtocol::tcp:
      break;
  }
  return refused("names no port, and protocol tcp has none of its own")
      .set_remedy("add \"ports\"; [\"*\"] is every one");
}

// Names go into headers and records.
Status check_name(const EgressRule& rule) {
  const bool plain =
      std::all_of(rule.name.begin(), rule.name.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  if (plain && rule.name.size() <= 253) return {};
  return refused("has a name that is longer than 253 bytes or not plain ASCII");
}

std::string label(const EgressRule& rule, const std::string& name) {
  std::string out = "egress rule " + name;
  return rule.origin.empty() ? out : out + " (" + rule.origin + ")";
}

}  // namespace

Result<Rule> Rule::compile(const EgressRule& source, size_t number) {
  Rule rule;
  rule.source_ = source;
  rule.name_ = source.name.empty() ? std::to_string(number) : source.name;
  const std::string doing = label(source, printable(rule.name_.substr(0, 80)));
  PD_TRY_CTX(doing, check_name(source));
  PD_TRY_CTX(doing, check_destination(source));
  PD_TRY_CTX(doing, check_conditions(source));
  rule.addresses_ = PD_TRY_CTX(doing, compile_addresses(source));
  rule.hosts_ = PD_TRY_CTX(doing, compile_hosts(source));
  rule.ports_ = PD_TRY_CTX(doing, compile_ports(source));
  rule.http_ = PD_TRY_CTX(doing, HttpMatch::compile(source.http));
  return rule;
}

}  // namespace paddock::egress
