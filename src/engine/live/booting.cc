// Of Sandboxes: one start of a sandbox, the first or another, over its layers.
#include <algorithm>
#include <utility>

#include "engine/agent_setup.h"
#include "engine/live/catalogue.h"
#include "engine/live/code_interpreter.h"
#include "engine/live/guest_user.h"
#include "engine/live/live_record.h"
#include "engine/live/sandboxes.h"
#include "engine/live/start_up.h"
#include "engine/live/template_start.h"
#include "engine/live/writable_places.h"
#include "sys/clock.h"
#include "sys/fault_point.h"
#include "sys/pid.h"

namespace paddock::engine {
namespace {

// Who is by a rule's name refused could be reached by number: then only names are open.
void open_to_addresses(model::EgressPolicy& policy) {
  for (auto& list : policy.lists) {
    const bool refuses_names = std::any_of(list.begin(), list.end(), [](const auto& rule) {
      return rule.action == model::EgressAction::deny && rule.hosts;
    });
    for (model::EgressRule& rule : list) {
      if (rule.every_public_host && !refuses_names) rule.every_public_address = true;
    }
  }
}

}  // namespace

// What policy lets out of a sandbox over that directory, if any. It asks the host's tools.
Result<EgressSource> Sandboxes::egress_source(const policy::Compiled& policy, EgressWord word,
                                              const model::HostPath& workspace) {
  auto source = make_egress_source({.settings = policy.settings,
                                    .caller_environment = options_.caller_environment,
                                    .caller_home = options_.caller_home,
                                    .workspace = workspace,
                                    .home = parts_.home});
  if (!source.ok()) {
    Error error = std::move(source).error();
    // Nobody has asked for it: a machine without package tools has sandboxes all the same.
    const bool optional = word == EgressWord::shipped && error.code() == Code::failed_precondition;
    if (!optional) return error.add_context("finding what may leave");
    source = EgressSource();
    source->nothing_because = error.describe() + "; " + error.remedy();
  }
  open_to_addresses(source->policy);
  return source;
}

Result<std::shared_ptr<const EgressSource>> Sandboxes::granted() {
  std::lock_guard lock(granted_mutex_);
  if (granted_) return granted_;
  granted_ = std::make_shared<const EgressSource>(
      PD_TRY(egress_source(policy_, options_.egress, model::HostPath())));
  return granted_;
}

Result<LivePlan> Sandboxes::plan(net::Task& task, net::Worker& worker, const Planning& what) {
  const auto directory = PD_TRY(find_directory(task, what.base_template));
  std::optional<model::HostPath> root;
  if (directory) root = directory->directory;
  if (what.workspace) return plan_with_workspace(task, worker, {what, root});
  return worker.run(task, [&]() -> Result<LivePlan> {
    // What it was when it was added may have changed.
    if (root) PD_TRY(check_template_directory(root->str(), parts_.home));
    const LiveEgress egress{network_, PD_TRY(granted())};
    return plan_live(parts_, policy_, egress, {what.base_template, what.network, root});
  });
}

// Under a boot id of its own.
Result<StartedUp> Sandboxes::boot(net::Task& task, LivePlan plan, Booting what) {
  TemplateSettings settings;
  const auto stack = PD_TRY(books_.run(task, [&]() -> Result<std::vector<std::string>> {
    auto found = PD_TRY(layers().stack_of(what.info.layer));
    settings = PD_TRY(layers().settings_of(found));
    return found;
  }));
  isolation::SandboxPlan& sandbox = plan.run.sandbox;
  sandbox.id = what.info.id;
  sandbox.state_dir = what.record.directory();
  sandbox.boot_id = new_boot_id();
  sandbox.lifetime = lifetime_of(what.info);
  if (sandbox.lifetime == isolation::Lifetime::leased) sandbox.held = {what.record.lock()};
  // Nobody else may use the view while the agent lives.
  what.view = plan.view;
  if (what.view) {
    for (const int held : what.view->held()) sandbox.held.push_back(held);
  }
  auto started = what.worker.run(task, [&]() -> Result<StartedUp> {
    std::vector<model::HostPath> directories;
    for (const std::string& layer : stack) directories.push_back(layers().directory_of(layer));
    PD_TRY(keep_writes(sandbox, layers().directory_of("below"), directories));
    const LiveEgress egress{network_, plan.granted};
    return start_up(parts_, std::move(plan),
                    {what.worker, egress, static_cast<uint64_t>(what.lives_ms) + kAgentSlackMs});
  });
  sys::fault_point("live.create.started");
  if (!started.ok()) return std::move(started).error();
  for (const auto& [name, value] : settings.environment) started->setup.environment[name] = value;
  for (const auto& [name, value] : what.info.environment) started->setup.environment[name] = value;
  started->setup.directory = settings.directory;
  started->setup.settings = std::move(settings);
  started->setup.ports_are_guarded = what.network.traffic == NetworkRequest::Traffic::with_token;
  started->setup.host_mask = what.network.host_mask;
  Status noted = put_on_record(task, what, *started);
  if (noted.ok()) noted = let_live(task, what, *started);
  sys::fault_point("live.create.leased");
  if (noted.ok()) return started;
  what.worker.run(task, [&] { return started->parts.sandbox->destroy().ok(); });
  return std::move(noted).error();
}

// It is on record, and what its view must know as well.
Status Sandboxes::let_live(net::Task& task, const Booting& what, StartedUp& started) {
  PD_TRY(begin_step(task, what, started));
  if (!outlives(what)) return {};
  Status told = what.worker.run(task, [&] { return let_outlive(*started.parts.link); });
  if (!told.ok()) give_up_step(task, what, started, told.error());
  return told;
}

// First the record, then the agent is told: one that outlives us is always found.
Status Sandboxes::put_on_record(net::Task& task, const Booting& what, StartedUp& started) {
  const int pid = sys::pid_of(started.parts.sandbox->agent());
  const std::optional<LiveWorkspace>& workspace = started.setup.workspace;
  PD_TRY(books_.run(task, [&]() -> Status {
    PD_TRY(what.record.started(pid));
    if (!workspace) return {};
    PD_TRY(what.record.set_view(*workspace->view));
    return Catalogue(parts_.database).set_view(what.info.id, *workspace->view);
  }));
  if (!outlives(what)) return {};
  PD_TRY(books_.run(task, [&] {
    return LiveRecords(parts_.database)
        .put(what.info.id, {started.setup, what.info.base_template, what.info.environment,
                            what.info.lifecycle, 0, what.network});
  }));
  sys::fault_point("live.create.recorded");
  return {};
}

isolation::Lifetime Sandboxes::lifetime_of(const LiveInfo& info) const {
  const bool is_client = info.purpose == LiveInfo::Purpose::client;
  return is_client ? options_.lifetime : isolation::Lifetime::bound;
}

// One that nobody took ends with its agent's stream.
bool Sandboxes::outlives(const Booting& what) const {
  return lifetime_of(what.info) == isolation::Lifetime::leased && what.taker == Taker::client;
}

Status Sandboxes::start_services(net::Task& task, LiveSandbox& sandbox) {
  if (sandbox.info().purpose == LiveInfo::Purpose::build) return {};
  if (sandbox.info().base_template == kCodeInterpreter) {
    PD_TRY(sandbox.start_service(task, code_interpreter_command(), kCodeInterpreterPort));
  }
  return start_of_template(task, sandbox);
}

// Whose commands they are first: it is what is started's, too.
Status Sandboxes::start_of_template(net::Task& task, LiveSandbox& sandbox) {
  const TemplateSettings settings = sandbox.setup().settings;
  if (!settings.user.empty()) {
    auto user =
        PD_TRY_CTX("the user of its template", find_guest_user(task, sandbox, settings.user));
    if (user) {
      sandbox.set_user(std::move(*user));
      PD_TRY(keep_record(task, sandbox));
    }
  }
  if (!settings.starts_something()) return {};
  return start_template(task, sandbox, settings, {kReadyPatience, nullptr});
}

Status Sandboxes::keep_record(net::Task& task, LiveSandbox& sandbox) {
  if (sandbox.setup().lifetime != isolation::Lifetime::leased) return {};
  return books_.run(task, [&, id = sandbox.info().id, record = record_of(sandbox)] {
    return LiveRecords(parts_.database).put(id, record);
  });
}

// Starts it anew on what it has written.
Status Sandboxes::stand_up(net::Task& task, LiveSandbox& sandbox, int64_t deadline_ms) {
  const auto entry = sandboxes_.find(sandbox.id());
  if (!sandbox.is_alive() || entry == sandboxes_.end()) {
    return Error(Code::unavailable, "the sandbox has ended");
  }
  // A kill meanwhile forgets it; the last to let go of the record removes it, on its thread.
  std::shared_ptr<SandboxRecord> record = entry->second.record;
  Status standing = stand_up(task, sandbox, *record, deadline_ms);
  const bool ended = !sandbox.is_alive();
  PD_TRY(books_.run(task, [&]() -> Status {
    record.reset();
    return ended ? LiveRecords(parts_.database).remove(sandbox.info().id) : Status();
  }));
  return standing;
}

Status Sandboxes::stand_up(net::Task& task, LiveSandbox& sandbox, SandboxRecord& record,
                           int64_t deadline_ms) {
  sandbox.begin_standing_up();
  LiveInfo info = sandbox.info();
  info.command.clear();  // it is not started again
  const NetworkRequest network = sandbox.network();
  const int64_t left_ms = std::max<int64_t>(deadline_ms - sys::wall_clock_ms(), 1);
  const std::optional<LiveWorkspace> workspace = sandbox.workspace();
  LivePlan planned = PD_TRY(plan(task, sandbox.worker(), {info.base_template, network, workspace}));
  StartedUp started =
      PD_TRY(boot(task, std::move(planned),
                  {info, network, record, sandbox.worker(), left_ms, Taker::client, {}}));
  if (sandbox.stand_up(started.setup, started.parts, deadline_ms) == LiveSandbox::Taken::no) {
    (void)sandbox.worker().run(task, [&] { return started.parts.sandbox->destroy(); }).ok();
    return Error(Code::unavailable, "it was ended meanwhile");
  }
  PD_TRY(start_services(task, sandbox));
  return note(task, sandbox);
}

// On record first: a daemon that ends halfway leaves one that is asleep, with all its files.
Status Sandboxes::lie_down(net::Task& task, LiveSandbox& sandbox) {
  if (!sandbox.is_alive()) return Error(Code::unavailable, "the sandbox has ended");
  LiveInfo asleep = sandbox.info();
  asleep.state = SandboxState::paused;
  asleep.kept = Keep::files;
  PD_TRY(books_.run(task, [&] { return Catalogue(parts_.database).set_state(asleep); }));
  sys::fault_point("live.sleep.noted");
  PD_TRY(sandbox.lie_down(task));
  sys::fault_point("live.sleep.ended");
  settle_at_rest(task, sandbox);
  return {};
}

}  // namespace paddock::engine
