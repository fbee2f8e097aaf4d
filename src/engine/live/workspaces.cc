// Of Sandboxes: the view of a sandbox's workspace, from its opening to its sealed step.
#include <fmt/core.h>

#include <utility>

#include "base/strings.h"
#include "engine/live/sandboxes.h"
#include "engine/live/start_up.h"
#include "model/json.h"
#include "sys/clock.h"
#include "sys/fault_point.h"
#include "sys/files.h"

namespace paddock::engine {
namespace {

using view::ViewState;

// The view that its latest start left, where it can be gone on in. One that was brought to the host
// or thrown away meanwhile is followed by another.
Result<std::optional<model::ViewId>> view_to_continue(view::ViewStore& views,
                                                      const LiveWorkspace& workspace) {
  if (!workspace.view) return std::optional<model::ViewId>();
  auto info = views.find(workspace.view->str());
  if (!info.ok() && info.error().code() == Code::not_found) return std::optional<model::ViewId>();
  if (!info.ok()) return std::move(info).error();
  if (info->state == ViewState::applied || info->state == ViewState::discarded) {
    return std::optional<model::ViewId>();
  }
  return workspace.view;
}

model::Outcome outcome_of_rest() {
  model::Outcome outcome;
  outcome.ending = model::Ending::exited;
  outcome.reason = "everything in it was ended; its files stay for another start";
  return outcome;
}

}  // namespace

model::Outcome outcome_of_end(const LiveSandbox& sandbox, std::string reason) {
  model::Outcome outcome = sandbox.outcome().value_or(model::Outcome());
  if (!sandbox.outcome()) {
    const bool was_timed = reason.starts_with("its time was up");
    outcome.ending = was_timed ? model::Ending::timed_out : model::Ending::killed;
    outcome.reason = std::move(reason);
  }
  outcome.usage = sandbox.final_usage();
  outcome.denials = sandbox.denials();
  return outcome;
}

view::StepEnd step_end(const model::Outcome& outcome) {
  return {sys::wall_clock_ms(), model::encode(outcome), ""};
}

Status check_no_workspace(const LiveSandbox& sandbox, std::string_view what) {
  if (!sandbox.workspace()) return {};
  return Error(Code::unsupported,
               fmt::format("{} of a sandbox with a workspace: its view would not be in it", what))
      .set_remedy("`paddock apply` its view, and make another sandbox over the same directory");
}

// Policy as for a `run` in that directory, and what it lets out.
Result<Sandboxes::Ruling> Sandboxes::ruling_of(const LiveWorkspace& workspace) {
  if (!options_.policy_of) {
    return Error(Code::unsupported, "this daemon shows no directory of the host");
  }
  LivePolicy policy = PD_TRY(options_.policy_of(workspace.directory));
  EgressSource source = PD_TRY(egress_source(policy.compiled, policy.egress, workspace.directory));
  return Ruling{std::move(policy.compiled),
                std::make_shared<const EgressSource>(std::move(source))};
}

// On a worker's thread.
Result<Sandboxes::Ruling> Sandboxes::look_at(LiveWorkspace& workspace,
                                             const std::optional<model::HostPath>& root) {
  if (root) PD_TRY(check_template_directory(root->str(), parts_.home));
  workspace.directory = model::HostPath(
      PD_TRY_CTX("opening the workspace", sys::real_path(workspace.as_spelled.str())));
  return ruling_of(workspace);
}

// On the thread of the views, whose database it is.
Result<LivePlan> Sandboxes::open_and_plan(view::ViewStore& views, const OverDirectory& over,
                                          const Ruling& ruling, LiveWorkspace workspace) {
  workspace.view = PD_TRY(view_to_continue(views, workspace));
  workspace.uppers.clear();
  const Parts parts{parts_.home, parts_.agent_program, views_.database(), parts_.images,
                    views,       parts_.make_backend,  parts_.share};
  const LiveRequest request{over.what.base_template, over.what.network, over.root, &workspace,
                            options_.caller_home};
  LivePlan plan = PD_TRY(plan_live(parts, ruling.policy, {network_, ruling.granted}, request));
  plan.view = views_.hold(std::move(plan.run.view));
  workspace.view = plan.view->id();
  for (const model::OverlayTree& tree : plan.view->trees()) {
    workspace.uppers.push_back(tree.upper->upper);
  }
  plan.workspace = std::move(workspace);
  return plan;
}

Result<LivePlan> Sandboxes::plan_with_workspace(net::Task& task, net::Worker& worker,
                                                const OverDirectory& over) {
  LiveWorkspace workspace = *over.what.workspace;
  const Ruling ruling = PD_TRY(worker.run(task, [&] { return look_at(workspace, over.root); }));
  return views_.run(
      task, [&](view::ViewStore& views) { return open_and_plan(views, over, ruling, workspace); });
}

// From now on it is in the history of the view, and the agent holds that.
Status Sandboxes::begin_step(net::Task& task, const Booting& what, const StartedUp& started) {
  if (!what.view) return {};
  view::Step step;
  step.argv = what.info.command;
  if (step.argv.empty()) {
    step.argv = {"paddock", "create", "--workspace", started.setup.workspace->as_spelled.str()};
  }
  step.started_ms = sys::wall_clock_ms();
  step.decision_json = model::encode(started.setup.decision);
  PD_TRY_CTX("keeping the view",
             views_.run(task, [&](view::ViewStore&) { return what.view->begin(step); }));
  sys::fault_point("live.view.begun");
  return {};
}

// Nothing ran in it: as with a `run` that did not come to be.
void Sandboxes::give_up_step(net::Task& task, const Booting& what, StartedUp& started,
                             const Error& why) {
  if (!what.view) return;
  what.worker.run(task, [&] { return started.parts.sandbox->destroy().ok(); });
  view::Step step;
  step.ended_ms = sys::wall_clock_ms();
  model::Outcome outcome;
  outcome.reason = why.describe();
  step.outcome_json = model::encode(outcome);
  (void)views_.run(task, [&](view::ViewStore&) { return what.view->finish(step); }).ok();
}

Status Sandboxes::settle_view(net::Task& task, const model::ViewId& view,
                              const model::Outcome& outcome) {
  const view::StepEnd end = step_end(outcome);
  return views_.run(task, [&](view::ViewStore& views) -> Status {
    (void)PD_TRY(views.settle(view, end));
    return {};
  });
}

// What fails is made up for by whoever uses the view next.
void Sandboxes::settle_at_end(net::Task& task, const LiveSandbox& sandbox) {
  if (!sandbox.workspace() || !sandbox.info().view) return;
  (void)settle_view(task, *sandbox.info().view, outcome_of_end(sandbox, sandbox.info().reason))
      .ok();
}

void Sandboxes::settle_at_rest(net::Task& task, const LiveSandbox& sandbox) {
  if (!sandbox.workspace() || !sandbox.info().view) return;
  (void)settle_view(task, *sandbox.info().view, outcome_of_rest()).ok();
}

}  // namespace paddock::engine
