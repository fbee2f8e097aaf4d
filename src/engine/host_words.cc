#include "engine/host_words.h"

#include <fmt/core.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "model/egress_table.h"
#include "model/ip_address.h"
#include "policy/setting.h"
#include "policy/value.h"

namespace paddock::engine {
namespace {

constexpr size_t kMaxWords = 256;
// Stands for every name below a wildcard.
constexpr std::string_view kAnyLabel = "any-name";

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

}  // namespace

Status check_room(const HostWords& words, const std::string& host) {
  if (words.size() < kMaxWords || words.contains(host)) return {};
  return Error(Code::resource_exhausted, "too many hosts were allowed and denied while it ran");
}

Result<model::EgressRule> allowance_of(const std::string& host) {
  PD_TRY(policy::parse_flag(*policy::find_setting("egress.allow"), host, {}));
  return model::read_allow_flag(host);
}

Result<model::EgressRule> denial_of(const std::string& host) {
  model::EgressRule rule = PD_TRY(allowance_of(host));
  rule.action = model::EgressAction::deny;
  rule.name = "deny:" + host;
  rule.origin = "paddock deny";
  rule.reason = "denied while it ran";
  return rule;
}

Status check_effect(const egress::Policy& policy, const model::EgressRule& allowance) {
  // A refusal elsewhere in the rules may come first.
  const egress::Host host = PD_TRY(host_of(allowance));
  egress::Verdict refusal;
  for (const uint16_t port : ports_of(allowance)) {
    egress::Verdict verdict = policy.decide({host, port}, {});
    if (verdict.answer != egress::Answer::deny) return {};
    refusal = std::move(verdict);
  }
  return Error(Code::permission_denied, fmt::format("{} stays refused: {} ({})", allowance.name,
                                                    refusal.reason, refusal.rule_name()))
      .set_remedy(
          "a denial that was said while it ran is taken back by the same words; one of "
          "policy holds until it is changed there");
}

}  // namespace paddock::engine
