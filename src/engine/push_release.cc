#include "engine/push_release.h"

#include <algorithm>
#include <utility>

#include "egress/names/host_pattern.h"
#include "engine/egress_plan.h"

namespace paddock::engine {
namespace {

bool is_bound_to(const model::Credential& credential, const egress::HostName& host) {
  return std::any_of(credential.hosts.begin(), credential.hosts.end(), [&](const auto& text) {
    const auto pattern = egress::HostPattern::parse(text, egress::SharedSuffix::refused);
    return !pattern.ok() || pattern->matches(host);  // what is no pattern is an error later
  });
}

// Presets hold no push, and asking the tools of this machine would take its time.
Result<model::Settings> settings_for(const model::Settings& all, const egress::HeldPush& push) {
  const egress::HostName host = PD_TRY(egress::HostName::parse(push.host));
  model::Settings settings = all;
  settings.egress.presets.clear();
  std::erase_if(settings.egress.credentials, [&](const model::Credential& credential) {
    return !is_bound_to(credential, host);
  });
  return settings;
}

}  // namespace

egress::PushStore push_store(const model::HostPath& home) {
  return egress::PushStore((home / "pushes").str());
}

Result<egress::ReleasedPush> release_push(const PushRelease& request) {
  const egress::HeldPush push = PD_TRY(push_store(request.home).find(request.id));
  const model::Settings settings = PD_TRY(settings_for(request.settings, push));
  EgressPlan plan = PD_TRY(make_egress_plan({.settings = settings,
                                             .caller_environment = request.caller_environment,
                                             .caller_home = request.caller_home,
                                             .workspace = {},
                                             .home = request.home}));
  if (!plan.lets_out()) {
    return Error(Code::permission_denied, "the policy in force lets nothing out")
        .set_remedy("release it under the policy that held it");
  }
  egress::GateOptions options;
  options.state_dir = request.home.str();
  options.ssh_program = request.ssh_program;
  return egress::make_gate(std::move(options))->release(push.id.str(), plan.rules);
}

}  // namespace paddock::engine
