#include "engine/rule_changes.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "engine/egress_setup.h"
#include "model/egress_table.h"
#include "policy/egress_lists.h"
#include "policy/value.h"
#include "sys/clock.h"

namespace paddock::engine {
namespace {

constexpr std::string_view kKey = "egress.allow";
// Each is compiled again with every change.
constexpr size_t kMaxSaid = 256;
// Stands for every name below a wildcard.
constexpr std::string_view kAnyLabel = "any-name";

// Every port, unless one is named.
Result<model::EgressRule> denial_of(const std::string& host) {
  model::EgressRule rule = PD_TRY(model::read_allow_flag(host));
  rule.action = model::EgressAction::deny;
  rule.name = "deny:" + host;
  rule.origin = "paddock deny";
  rule.reason = "denied while it ran";
  return rule;
}

Result<egress::Host> host_of(const model::EgressRule& rule) {
  if (rule.addresses) {
    return egress::Host(PD_TRY(model::Cidr::parse(rule.addresses->front())).base());
  }
  std::string name = rule.hosts->front();
  if (name.starts_with("*.")) name.replace(0, 1, kAnyLabel);
  return egress::Host(PD_TRY(egress::HostName::parse(name)));
}

// Some that an `allow` speaks of: those of a rule that names none, or the first of a range.
std::vector<uint16_t> ports_of(const model::EgressRule& rule) {
  if (!rule.ports) return {443, 80};
  const std::string& text = rule.ports->front();
  if (text == "*") return {443, 80, 22, 1};
  return {static_cast<uint16_t>(parse_u64(text.substr(0, text.find('-'))).value_or(0))};
}

// Whether the gate lets it through now. A refusal elsewhere in the rules may come first.
Status check_effect(const egress::Policy& policy, const model::EgressRule& rule) {
  const egress::Host host = PD_TRY(host_of(rule));
  egress::Verdict refusal;
  for (const uint16_t port : ports_of(rule)) {
    egress::Verdict verdict = policy.decide({host, port}, {});
    if (verdict.answer != egress::Answer::deny) return {};
    refusal = std::move(verdict);
  }
  return Error(Code::permission_denied, fmt::format("{} stays refused: {} ({})", rule.name,
                                                    refusal.reason, refusal.rule_name()))
      .set_remedy(
          "a denial that was said while it ran is taken back by the same words; one of "
          "policy holds until it is changed there");
}

}  // namespace

Status RuleChanges::check(const ChangeRequest& request, const model::EgressRule& rule) const {
  if (said_.size() >= kMaxSaid && !said_.contains(request.host)) {
    return Error(Code::resource_exhausted, "too many hosts were allowed and denied while it ran");
  }
  if (request.verb == ChangeVerb::deny) return {};
  PD_TRY(policy::check_grant(parts_.policy, kKey, request.host));
  for (const std::string& text : rule.addresses.value_or(model::TextList{})) {
    if (is_led_to_gate(parts_.egress, PD_TRY(model::Cidr::parse(text)))) continue;
    return Error(Code::failed_precondition,
                 fmt::format("{} cannot be reached any more: which addresses leave a sandbox for "
                             "the gate is fixed when it starts",
                             text))
        .set_remedy("allow it by name, or start another run with --allow " + request.host);
  }
  return {};
}

Result<std::shared_ptr<const egress::Policy>> RuleChanges::compile(
    const std::map<std::string, ChangeVerb>& said) const {
  model::EgressSettings settings = parts_.policy.settings.egress;
  for (const auto& [host, verb] : said) {
    if (verb == ChangeVerb::allow) {
      // It may have begun with it, and no two rules have one name.
      if (std::ranges::count(settings.allow, host) == 0) settings.allow.push_back(host);
    } else {
      settings.first.insert(settings.first.begin(), PD_TRY(denial_of(host)));
    }
  }
  return egress::Policy::compile(PD_TRY(policy::egress_lists(settings, parts_.of_presets)));
}

Result<std::string> RuleChanges::apply(const ChangeRequest& request) {
  // What the flag takes, this takes.
  PD_TRY(policy::parse_flag(*policy::find_setting(kKey), request.host, {}));
  const model::EgressRule rule = PD_TRY(model::read_allow_flag(request.host));
  PD_TRY(check(request, rule));
  std::map<std::string, ChangeVerb> said = said_;
  said[request.host] = request.verb;
  auto compiled = PD_TRY(compile(said));
  if (request.verb == ChangeVerb::allow) PD_TRY(check_effect(*compiled, rule));
  parts_.rules.policy = std::move(compiled);
  parts_.session.gate().set_rules(parts_.session.id(), parts_.rules);
  said_ = std::move(said);
  note(request);
  return fmt::format("{} {}", request.host,
                     request.verb == ChangeVerb::allow ? "is allowed" : "is denied");
}

void RuleChanges::note(const ChangeRequest& request) {
  model::EgressEvent event;
  event.sandbox = parts_.session.id();
  event.kind = model::EgressEventKind::rule;
  const bool allows = request.verb == ChangeVerb::allow;
  event.verdict = allows ? model::EgressVerdict::allowed : model::EgressVerdict::denied;
  event.host = request.host;
  event.rule = "egress:" + std::string(allows ? "" : "deny:") + request.host;
  event.reason = allows ? "allowed while it ran" : "denied while it ran";
  event.time_ms = sys::wall_clock_ms();
  parts_.session.record(std::move(event));
}

}  // namespace paddock::engine
