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

// Every port, unless one is named.
Result<model::EgressRule> denial_of(const std::string& host) {
  model::EgressRule rule = PD_TRY(model::read_allow_flag(host));
  rule.action = model::EgressAction::deny;
  rule.name = "deny:" + host;
  rule.origin = "paddock deny";
  rule.reason = "denied while it ran";
  return rule;
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
      settings.allow.push_back(host);
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
  parts_.rules.policy = PD_TRY(compile(said));
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
