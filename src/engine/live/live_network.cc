#include "engine/live/live_network.h"

#include <utility>

namespace paddock::engine {
namespace {

egress::LoadedCredential as_credential(const HeaderRule& header, size_t number) {
  model::Credential credential;
  credential.name = "client-header-" + std::to_string(number);
  credential.hosts = {header.host};
  credential.header = header.name;
  credential.form = header.form;
  credential.own_value = model::OwnValue::replaced;
  credential.confidence = header.confidence;
  credential.origin = "network.rules";
  return {std::move(credential), *header.secret, std::nullopt};
}

model::EgressRule all_else() {
  model::EgressRule rule;
  rule.name = "all else";
  rule.action = model::EgressAction::allow;
  rule.every_public_host = rule.every_public_address = true;
  rule.ports = model::TextList{"*"};
  return rule;
}

// Denials come first. What nothing is said of is as the client asked, or as policy has it.
Result<std::vector<model::EgressRule>> with_words(const NetworkRequest& request) {
  std::vector<model::EgressRule> rules, allowed;
  for (const auto& [host, verb] : request.words) {
    if (verb == ChangeVerb::deny) rules.push_back(PD_TRY(denial_of(host)));
    if (verb == ChangeVerb::allow) allowed.push_back(PD_TRY(allowance_of(host)));
  }
  rules.insert(rules.end(), allowed.begin(), allowed.end());
  const std::vector<model::EgressRule> rest = request.narrowing.value_or(std::vector{all_else()});
  rules.insert(rules.end(), rest.begin(), rest.end());
  return rules;
}

}  // namespace

Result<EgressSource> narrow(const EgressSource& granted, const NetworkRequest& request) {
  EgressSource source = granted;
  if (source.policy.lists.empty()) return source;  // nothing leaves: nothing to narrow
  if (request.narrowing || !request.words.empty()) {
    source.policy.lists.push_back(PD_TRY(with_words(request)));
  }
  size_t number = 0;
  for (const HeaderRule& header : request.headers) {
    if (!header.secret) return Error(Code::internal, "a header without its value");
    source.credentials.push_back(as_credential(header, ++number));
  }
  return source;
}

Result<std::unique_ptr<LiveNetwork>> LiveNetwork::begin(Parts parts, const model::SandboxId& id,
                                                        const EgressPlan& plan) {
  auto session = PD_TRY(NetworkSession::begin(parts.network, id, plan.rules, NetworkKeep::denials));
  return std::unique_ptr<LiveNetwork>(new LiveNetwork(std::move(parts), std::move(session)));
}

Status LiveNetwork::update(const NetworkRequest& request) {
  const EgressSource source = PD_TRY(narrow(*parts_.granted, request));
  EgressPlan plan = PD_TRY(plan_from(source, parts_.key));
  if (!request.must_reach.empty()) {
    PD_TRY(check_effect(*plan.rules.policy, PD_TRY(allowance_of(request.must_reach))));
  }
  session_->gate().set_rules(session_->id(), std::move(plan.rules));
  return {};
}

Result<std::unique_ptr<EgressBridge>> LiveNetwork::make_bridge(AgentLink& link) {
  return EgressBridge::make(session_->gate(), session_->id(), link);
}

}  // namespace paddock::engine
