#include "engine/live/start_up.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <utility>

#include "base/strings.h"
#include "engine/agent_setup.h"
#include "policy/level_choice.h"

namespace paddock::engine {
namespace {

using isolation::Sandbox;

std::map<std::string, std::string> as_map(const std::vector<std::string>& variables) {
  std::map<std::string, std::string> out;
  for (const std::string& variable : variables) {
    const size_t equals = variable.find('=');
    out.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return out;
}

}  // namespace

Result<LivePlan> plan_live(const Parts& parts, const policy::Compiled& policy,
                           const std::string& template_name) {
  if (template_name != "base") {
    return Error(Code::not_found, fmt::format("template '{}' not found", printable(template_name)));
  }
  policy::LevelChoice choice = PD_TRY(policy::resolve_level(policy.settings));
  model::Decision decision;
  decision.level = choice.level;
  decision.trust = policy.settings.trust;
  decision.accepted_by = choice.accepted_by;
  RunRequest request;
  request.policy = policy;
  request.policy.settings.mode = model::WorkspaceMode::none;
  request.policy.settings.egress = {};  // nothing leaves a live sandbox yet
  LivePlan plan;
  plan.level = choice.level;
  plan.limits = policy.settings.limits;
  plan.run = PD_TRY(make_run_plan(request, parts, decision));
  plan.run.sandbox.user = kLiveUser;
  plan.run.sandbox.files.binds.push_back(
      {model::GuestPath(kAgentInside), parts.agent_program, model::Access::read_only});
  return plan;
}

Result<StartedUp> start_up(const Parts& parts, LivePlan plan, net::Worker& worker,
                           uint64_t deadline_ms) {
  std::unique_ptr<isolation::Backend> backend = PD_TRY_CTX(
      fmt::format("running {} code", name_of(model::kTrustNames, plan.run.decision.trust)),
      parts.make_backend(plan.level));
  std::unique_ptr<Sandbox> sandbox = PD_TRY(backend->start(plan.run.sandbox));
  auto link = std::make_unique<AgentLink>(sandbox->stream());
  PD_TRY(set_up_agent(*sandbox, *link, {.deadline_ms = deadline_ms, .egress = {}}));
  sys::SocketFd waiting(::fcntl(sandbox->stream().get(), F_DUPFD_CLOEXEC, 3));
  if (!waiting.is_open()) return Error::from_errno(errno, "watching the agent's stream");

  LiveSetup setup;
  setup.decision = std::move(plan.run.decision);
  for (const model::Control& control : sandbox->controls()) {
    setup.decision.controls.push_back(control);
  }
  setup.limits = plan.limits;
  setup.home = kGuestHome;
  setup.environment = as_map(plan.run.environment.variables);
  setup.user_name = setup.environment["USER"];
  sandbox->confine(setup.start);
  return StartedUp{std::move(setup), LiveParts{std::move(backend), std::move(sandbox),
                                               std::move(link), std::move(waiting), worker}};
}

}  // namespace paddock::engine
