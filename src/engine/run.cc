// Engine::run: one command, one sandbox, from the request to the report. Reads top down.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "engine/agent_link.h"
#include "engine/agent_setup.h"
#include "engine/control_socket.h"
#include "engine/denials.h"
#include "engine/egress_bridge.h"
#include "engine/egress_setup.h"
#include "engine/engine.h"
#include "engine/gate_trust.h"
#include "engine/outcome_of.h"
#include "engine/relay.h"
#include "engine/rule_changes.h"
#include "engine/run_plan.h"
#include "engine/sandbox_record.h"
#include "model/json.h"
#include "policy/level_choice.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/pid.h"

namespace paddock::engine {
namespace {

using isolation::Backend;
using isolation::Sandbox;
using model::Control;
using model::Decision;

AgentSetup agent_setup(const Sandbox& sandbox, const RunPlan& plan) {
  AgentSetup setup;
  const uint64_t timeout_ms = plan.sandbox.limits.timeout_seconds * 1000;
  if (timeout_ms != 0) setup.deadline_ms = timeout_ms + kAgentSlackMs;
  setup.sockets = static_cast<uint32_t>(plan.sockets.size());
  if (plan.egress.lets_out()) {
    setup.egress = egress_setup(sandbox.setup().egress().form(), plan.egress.literals);
  }
  return setup;
}

wire::Start start_message(const RunRequest& request, const RunPlan& plan, const Sandbox& sandbox) {
  wire::Start start;
  for (const std::string& argument : request.argv) start.add_argv(argument);
  for (const std::string& variable : plan.environment.variables) start.add_environment(variable);
  start.set_directory(plan.directory.str());
  start.set_timeout_ms(request.policy.settings.limits.timeout_seconds * 1000);
  start.set_output_limit(request.policy.settings.limits.output_bytes);
  sandbox.confine(start);
  return start;
}

// The disk limit of a view: its upper lies in PADDOCK_HOME, where no quota of the kernel's holds
// it.
std::function<std::optional<std::string>()> disk_watch(view::OpenView* view, uint64_t limit) {
  if (view == nullptr || limit == 0) return {};
  return [view, limit]() -> std::optional<std::string> {
    if (view->upper_bytes() <= limit) return std::nullopt;
    return fmt::format("wrote more than {} to the workspace (limits.disk)", format_bytes(limit));
  };
}

struct Running {
  Sandbox& sandbox;
  AgentLink& link;
  NetworkSession* network;  // nullptr: nothing leaves
};

Result<RelayResult> run_command(const RunRequest& request, RunPlan& plan, const Running& running,
                                Denials& denials) {
  const model::Limits& limits = request.policy.settings.limits;
  RelayOptions options;
  options.stdio = request.stdio;
  options.timeout_ms = limits.timeout_seconds * 1000;
  options.watch = disk_watch(plan.view.get(), limits.disk_bytes);
  const HostSockets sockets(
      plan.sandbox.id, std::move(plan.sockets),
      [&running](model::EgressEvent event) { running.network->record(std::move(event)); });
  std::unique_ptr<EgressBridge> bridge;
  if (running.network != nullptr) {
    bridge = PD_TRY(
        EgressBridge::make(running.network->gate(), plan.sandbox.id, running.link, &sockets));
    options.egress = bridge.get();
  }
  if (plan.egress.lets_out()) {
    set_variables(plan.environment, proxy_variables(running.sandbox.setup().egress().form()),
                  Present::kept);
  }
  Relay relay(running.sandbox, running.link, denials, std::move(options));
  return relay.run(start_message(request, plan, running.sandbox));
}

// The limit that we, and not the kernel, ended the command for.
model::Denial limit_of(const RelayResult& result) {
  model::Denial denial;
  denial.kind = model::DenialKind::limit;
  denial.what = result.killed_because.empty() ? "output" : "disk";
  denial.rule = "limits." + denial.what;
  denial.first_ms = sys::wall_clock_ms();
  return denial;
}

// nullptr: nothing leaves.
Result<std::unique_ptr<NetworkSession>> begin_network(Network& network, RunPlan& plan) {
  if (!plan.egress.lets_out() && plan.sockets.empty()) return std::unique_ptr<NetworkSession>();
  // With sockets alone the gate refuses everything: whoever is asked must have an answer.
  egress::SandboxRules rules = plan.egress.rules;
  if (rules.policy == nullptr) rules.policy = PD_TRY(egress::Policy::compile({.lists = {{}}}));
  auto session = PD_TRY(NetworkSession::begin(network, plan.sandbox.id, std::move(rules)));
  if (plan.egress.opens_tls) {
    PD_TRY_CTX("making programs trust the gate", add_trust(network, plan));
  }
  if (!plan.egress.ssh_hosts.empty()) {
    PD_TRY_CTX("making programs know the gate", add_ssh_trust(session->gate(), plan));
  }
  return session;
}

// What `paddock allow` and `deny` talk to while the command runs.
struct ChangesOf {
  std::unique_ptr<RuleChanges> changes;
  std::unique_ptr<ControlSocket> socket;  // last: its thread uses the other
};

Result<ChangesOf> open_control(const RunRequest& request, const RunPlan& plan,
                               const Sandbox& sandbox, NetworkSession* session) {
  ChangesOf control;
  if (plan.egress.lets_out()) {
    control.changes.reset(new RuleChanges(
        {request.policy, plan.egress.of_presets, plan.egress.rules,
         egress_setup(sandbox.setup().egress().form(), plan.egress.literals), *session}));
  }
  RuleChanges* changes = control.changes.get();
  auto handle = [changes](const ChangeRequest& change) -> Result<std::string> {
    if (changes != nullptr) return changes->apply(change);
    return Error(Code::failed_precondition,
                 "it began with nothing allowed, and so without a way out")
        .set_remedy("start it with --allow or --egress");
  };
  control.socket = PD_TRY_CTX("listening for changes of the rules",
                              ControlSocket::open(plan.sandbox.state_dir, std::move(handle)));
  return control;
}

// What the gate saw. What it refused is denied like all else.
void end_network(NetworkSession* session, Denials& denials, model::RunReport& report) {
  if (session == nullptr) return;
  report.network = session->end();
  for (const model::EgressEvent& event : report.network.events) {
    const bool was_asked = event.kind != model::EgressEventKind::rule;
    if (was_asked && event.verdict == model::EgressVerdict::denied)
      denials.add(model::to_denial(event));
  }
}

// Ends the view's step. When nothing of the view changed, none is left.
Status finish_view(RunPlan& plan, view::Step& step, model::RunReport& report) {
  if (!plan.view) return {};
  step.ended_ms = sys::wall_clock_ms();
  step.outcome_json = model::encode(report.outcome);
  step.network_json = model::encode(report.network);
  auto changes = PD_TRY_CTX("keeping the view", plan.view->finish(step));
  if (changes) {
    report.view = plan.view->id();
    report.changes = *changes;
  }
  return {};
}

// Everything between the plan and the report. The view is still open when it returns.
Result<model::RunReport> run_planned(const RunRequest& request, RunPlan& plan, Backend& backend,
                                     Network& network, SandboxRecord& record, view::Step& step,
                                     const std::function<void(const Decision&)>& decided) {
  // Before the sandbox, so that it is still there when the last of it goes.
  const auto session = PD_TRY(begin_network(network, plan));
  const model::Limits& limits = request.policy.settings.limits;
  int64_t started_us = sys::monotonic_us();
  std::unique_ptr<Sandbox> sandbox = PD_TRY(backend.start(plan.sandbox));
  PD_TRY(record.started(sys::pid_of(sandbox->agent())));
  AgentLink link(sandbox->stream());
  PD_TRY(set_up_agent(*sandbox, link, agent_setup(*sandbox, plan)));
  for (const Control& control : sandbox->controls()) plan.decision.controls.push_back(control);
  decided(plan.decision);
  if (plan.view) {
    step.decision_json = model::encode(plan.decision);
    PD_TRY_CTX("keeping the view", plan.view->begin(step));
  }

  Denials denials;
  ChangesOf control = PD_TRY(open_control(request, plan, *sandbox, session.get()));
  RelayResult result = PD_TRY(run_command(request, plan, {*sandbox, link, session.get()}, denials));
  control.socket.reset();
  model::RunReport report;
  end_network(session.get(), denials, report);
  report.outcome =
      outcome_of(result, *sandbox, limits, static_cast<uint64_t>(sys::monotonic_us() - started_us));
  for (model::Denial& denial : sandbox->limits_hit()) denials.add(std::move(denial));
  if (report.outcome.ending == model::Ending::violated) denials.add(limit_of(result));
  report.outcome.denials_dropped = denials.dropped();
  report.outcome.denials = denials.take_records();
  report.decision = std::move(plan.decision);
  Status destroyed = sandbox->destroy();
  if (!destroyed.ok()) record.abandon();
  PD_TRY_CTX("removing the sandbox", std::move(destroyed));
  return report;
}

}  // namespace

Result<model::RunReport> Engine::run(const RunRequest& request,
                                     const std::function<void(const Decision&)>& decided) {
  policy::LevelChoice choice = PD_TRY(policy::resolve_level(request.policy.settings));
  std::unique_ptr<Backend> backend = PD_TRY_CTX(
      fmt::format("running {} code", name_of(model::kTrustNames, request.policy.settings.trust)),
      parts_.make_backend(choice.level));
  Decision level;
  level.level = choice.level;
  level.trust = request.policy.settings.trust;
  level.accepted_by = choice.accepted_by;

  RunPlan plan = PD_TRY(make_run_plan(request, parts_, level));
  SandboxRecord record =
      PD_TRY(SandboxRecord::create(parts_.home, parts_.database, choice.level,
                                   plan.view ? std::optional(plan.view->id()) : std::nullopt));
  plan.sandbox.id = record.id();
  plan.sandbox.state_dir = record.directory();

  view::Step step;
  step.argv = request.argv;
  step.started_ms = sys::wall_clock_ms();
  auto ran = run_planned(request, plan, *backend, network_, record, step, decided);
  model::RunReport report;
  if (ran.ok()) {
    report = std::move(ran).value();
  } else {
    report.outcome.reason = ran.error().describe();  // the ending is `setup_failed` already
  }
  Status finished = finish_view(plan, step, report);
  if (!ran.ok()) return std::move(ran).error();
  PD_TRY(std::move(finished));
  return report;
}

}  // namespace paddock::engine
