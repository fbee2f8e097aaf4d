#include "engine/rule_changes.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/egress_setup.h"
#include "policy/egress_lists.h"
#include "sys/clock.h"

namespace paddock::engine {
namespace {

constexpr std::string_view kKey = "egress.allow";

}  // namespace

Status RuleChanges::check(const ChangeRequest& request, const model::EgressRule& rule) const {
  PD_TRY(check_room(said_, request.host));
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

Result<std::shared_ptr<const egress::Policy>> RuleChanges::compile(const HostWords& said) const {
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
  const model::EgressRule rule = PD_TRY(allowance_of(request.host));
  PD_TRY(check(request, rule));
  HostWords said = said_;
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
