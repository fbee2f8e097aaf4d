#include "engine/live/sandboxes.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <utility>

#include "engine/live/catalogue.h"
#include "engine/live/code_interpreter.h"
#include "engine/live/live_record.h"
#include "engine/live/start_up.h"
#include "engine/ssh_trust.h"
#include "sys/clock.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/path_lock.h"
#include "sys/pid.h"

namespace paddock::engine {
namespace {

// The agent's own deadline lies this far behind ours.
constexpr uint64_t kAgentSlackMs = 10'000;

LiveInfo info_of(const CreateRequest& request, const model::SandboxId& id) {
  LiveInfo info;
  info.id = id;
  info.template_name = request.template_name;
  info.created_ms = sys::wall_clock_ms();
  info.deadline_ms = info.created_ms + request.timeout_ms;
  info.metadata = request.metadata;
  info.owner = request.owner;
  return info;
}

service::Holding holding_of(const model::Limits& limits) {
  // Without a limit it may use every processor.
  const double cpus = limits.cpus > 0 ? limits.cpus : static_cast<double>(::get_nprocs());
  return {1, limits.memory_bytes, limits.disk_bytes, cpus};
}

}  // namespace

Sandboxes::Sandboxes(net::Loop& loop, Parts parts, policy::Compiled policy,
                     SandboxesOptions options)
    : loop_(loop),
      parts_(std::move(parts)),
      policy_(std::move(policy)),
      options_(std::move(options)),
      network_(parts_.home, ssh_program_beside(parts_.agent_program)) {
  for (size_t i = 0; i < options_.starters; ++i) {
    starters_.push_back(std::make_unique<net::Worker>());
  }
}

Sandboxes::~Sandboxes() = default;

Status Sandboxes::open() {
  const std::string directory = (parts_.home / "run").str();
  PD_TRY_CTX("opening PADDOCK_HOME", sys::make_dirs(directory, 0700));
  auto lock =
      sys::lock_path(directory + "/daemon.lock", sys::LockMode::exclusive, sys::LockWait::no);
  if (!lock.ok()) {
    if (lock.error().code() != Code::failed_precondition) return std::move(lock).error();
    return Error(Code::failed_precondition, "another `paddock serve` works in this PADDOCK_HOME")
        .set_remedy("end it, or give this one a PADDOCK_HOME of its own");
  }
  lock_ = std::move(*lock);
  PD_TRY(Catalogue(parts_.database).forget_old());
  found_ = PD_TRY_CTX("taking over what an earlier daemon left", adopt_all(parts_));
  return {};
}

void Sandboxes::take_over(net::Task& task) {
  for (Adopted& found : std::exchange(found_, {})) {
    net::Worker& worker = *starters_[next_starter_++ % starters_.size()];
    auto sandbox = std::make_shared<LiveSandbox>(
        loop_, std::move(found.info), std::move(found.setup),
        LiveParts{std::move(found.backend), std::move(found.sandbox), std::move(found.link),
                  std::move(found.waiting), worker},
        on_end());
    sandboxes_.emplace(sandbox->id(), Entry{sandbox, std::move(found.record)});
    sandbox->set_observer(options_.observer);
    sandbox->begin();
    sandbox->take_over(task, found.resumed);
  }
}

LiveSandbox::OnEnd Sandboxes::on_end() {
  return
      [this](LiveSandbox& sandbox, std::string reason) { end_later(sandbox, std::move(reason)); };
}

std::shared_ptr<LiveSandbox> Sandboxes::find(const std::string& id) {
  auto found = sandboxes_.find(id);
  if (found == sandboxes_.end() || !found->second.sandbox->is_running()) return nullptr;
  return found->second.sandbox;
}

std::vector<std::shared_ptr<LiveSandbox>> Sandboxes::list() {
  std::vector<std::shared_ptr<LiveSandbox>> out;
  for (auto& [id, entry] : sandboxes_) {
    if (entry.sandbox->is_running()) out.push_back(entry.sandbox);
  }
  return out;
}

std::vector<std::shared_ptr<LiveSandbox>> Sandboxes::all() {
  std::vector<std::shared_ptr<LiveSandbox>> out;
  for (auto& [id, entry] : sandboxes_) out.push_back(entry.sandbox);
  return out;
}

// ---- making one

Result<std::shared_ptr<LiveSandbox>> Sandboxes::create(net::Task& task, CreateRequest request) {
  const int64_t began_us = sys::monotonic_us();
  const CreateRequest asked = request;
  auto created = admit(task, std::move(request));
  if (options_.observer == nullptr) return created;
  if (created.ok()) {
    options_.observer->on_created(**created, sys::monotonic_us() - began_us);
  } else {
    options_.observer->on_refused(asked, created.error());
  }
  return created;
}

service::Holding Sandboxes::asked_for() const {
  return holding_of(policy_.settings.limits);
}

service::Holding Sandboxes::held_by(const model::Owner& owner) const {
  service::Holding held;
  for (const auto& [id, entry] : sandboxes_) {
    if (entry.sandbox->info().owner == owner) held.add(holding_of(entry.sandbox->setup().limits));
  }
  for (const model::Owner& other : creating_) {
    if (other == owner) held.add(asked_for());
  }
  return held;
}

Result<std::shared_ptr<LiveSandbox>> Sandboxes::admit(net::Task& task, CreateRequest request) {
  if (ending_) return Error(Code::unavailable, "the daemon is ending");
  if (sandboxes_.size() + creating_.size() >= options_.max_sandboxes) {
    return Error(Code::resource_exhausted, "too many sandboxes")
        .set_remedy("kill some that are not needed, or wait until their time is up");
  }
  PD_TRY(service::check_quota(request.quota, held_by(request.owner), asked_for()));
  const model::Owner owner = request.owner;
  creating_.push_back(owner);
  auto made = make(task, std::move(request));
  creating_.erase(std::ranges::find(creating_, owner));
  if (!made.ok()) return std::move(made).error();
  const std::string id = made->sandbox->id();
  auto sandbox = made->sandbox;
  sandboxes_.emplace(id, std::move(*made));
  sandbox->begin();
  if (ending_) {
    PD_TRY(finish(task, id, "the daemon ended"));
    return Error(Code::unavailable, "the daemon is ending");
  }
  if (sandbox->info().template_name == kCodeInterpreter) {
    const Status started =
        sandbox->start_service(task, code_interpreter_command(), kCodeInterpreterPort);
    if (!started.ok()) {
      (void)finish(task, id, "its code interpreter did not start").ok();
      return started.error();
    }
  }
  const Status noted = books_.run(
      task, [&, info = sandbox->info()] { return Catalogue(parts_.database).set_state(info); });
  if (!noted.ok()) {
    (void)finish(task, id, "it could not be put on record").ok();
    return noted.error();
  }
  return sandbox;
}

Result<Sandboxes::Entry> Sandboxes::make(net::Task& task, CreateRequest request) {
  net::Worker& worker = *starters_[next_starter_++ % starters_.size()];
  std::optional<LiveEgress> egress;
  LivePlan plan = PD_TRY(worker.run(task, [&]() -> Result<LivePlan> {
    egress.emplace(LiveEgress{network_, PD_TRY(granted())});
    return plan_live(parts_, policy_, *egress, {request.template_name, request.network});
  }));
  std::unique_ptr<SandboxRecord> record;
  LiveInfo info;
  PD_TRY(books_.run(task, [&]() -> Status {
    auto made = SandboxRecord::create(parts_.home, parts_.database, plan.level, std::nullopt);
    if (!made.ok()) return std::move(made).error();
    record = std::make_unique<SandboxRecord>(std::move(*made));
    info = info_of(request, record->id());
    return Catalogue(parts_.database).add(info);
  }));
  plan.run.sandbox.id = record->id();
  plan.run.sandbox.state_dir = record->directory();
  plan.run.sandbox.lifetime = options_.lifetime;
  if (options_.lifetime == isolation::Lifetime::leased) {
    plan.run.sandbox.held = {record->lock()};
  }
  sys::fault_point("live.create.journalled");
  auto started = worker.run(task, [&] {
    return start_up(parts_, std::move(plan),
                    {worker, *egress, static_cast<uint64_t>(request.timeout_ms) + kAgentSlackMs});
  });
  sys::fault_point("live.create.started");
  Status noted = books_.run(task, [&]() -> Status {
    if (started.ok()) return record->started(sys::pid_of(started->parts.sandbox->agent()));
    info.state = SandboxState::gone;
    info.reason = started.error().describe();
    record.reset();
    return Catalogue(parts_.database).set_state(info);
  });
  if (!started.ok()) return std::move(started).error();
  for (auto& [name, value] : request.environment) started->setup.environment[name] = value;
  started->setup.ports_are_guarded = request.network.traffic == NetworkRequest::Traffic::with_token;
  started->setup.host_mask = request.network.host_mask;
  if (noted.ok()) noted = put_on_record(task, *started, *record);
  if (!noted.ok()) {
    worker.run(task, [&] { return started->parts.sandbox->destroy().ok(); });
    return std::move(noted).error();
  }
  // Its time begins when it can be used.
  info.deadline_ms = sys::wall_clock_ms() + request.timeout_ms;
  Entry entry;
  entry.record = std::move(record);
  entry.sandbox = std::make_shared<LiveSandbox>(loop_, std::move(info), std::move(started->setup),
                                                std::move(started->parts), on_end());
  entry.sandbox->set_observer(options_.observer);
  entry.sandbox->note_network(std::move(request.network));
  return entry;
}

// First the record, then the agent is told: one that outlives us is always found.
Status Sandboxes::put_on_record(net::Task& task, StartedUp& started, SandboxRecord& record) {
  if (options_.lifetime != isolation::Lifetime::leased) return {};
  PD_TRY(books_.run(task,
                    [&] { return LiveRecords(parts_.database).put(record.id(), started.setup); }));
  sys::fault_point("live.create.recorded");
  PD_TRY(started.parts.worker.run(task, [&] { return let_outlive(*started.parts.link); }));
  sys::fault_point("live.create.leased");
  return {};
}

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

Result<std::shared_ptr<const EgressSource>> Sandboxes::granted() {
  std::lock_guard lock(granted_mutex_);
  if (granted_) return granted_;
  auto source = make_egress_source({.settings = policy_.settings,
                                    .caller_environment = options_.caller_environment,
                                    .caller_home = options_.caller_home,
                                    .workspace = {},
                                    .home = parts_.home});
  if (!source.ok()) {
    Error error = std::move(source).error();
    // Nobody has asked for it: a machine without package tools has sandboxes all the same.
    const bool optional =
        options_.egress == EgressWord::shipped && error.code() == Code::failed_precondition;
    if (!optional) return error.add_context("finding what may leave");
    source = EgressSource();
    source->nothing_because = error.describe() + "; " + error.remedy();
  }
  open_to_addresses(source->policy);
  granted_ = std::make_shared<const EgressSource>(std::move(*source));
  return granted_;
}

// ---- ending one

void Sandboxes::end_later(LiveSandbox& sandbox, std::string reason) {
  loop_.spawn([this, id = sandbox.id(), reason = std::move(reason)](net::Task& task) {
    (void)finish(task, id, reason).ok();
  });
}

Status Sandboxes::kill(net::Task& task, const std::string& id, std::string reason) {
  if (!find(id)) return Error(Code::not_found, "no sandbox " + id);
  return finish(task, id, std::move(reason));
}

Status Sandboxes::finish(net::Task& task, const std::string& id, std::string reason) {
  auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return {};
  const std::shared_ptr<LiveSandbox> sandbox = found->second.sandbox;
  const Status destroyed = sandbox->kill(task, std::move(reason));
  found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return destroyed;  // another one has finished it meanwhile
  if (options_.observer != nullptr) {
    options_.observer->on_ended(sandbox->info(), sandbox->final_usage());
  }
  std::unique_ptr<SandboxRecord> record = std::move(found->second.record);
  sandboxes_.erase(found);
  const Status noted = books_.run(task, [&, info = sandbox->info()]() -> Status {
    if (!destroyed.ok()) record->abandon();
    sys::fault_point("live.delete.destroyed");
    record.reset();
    sys::fault_point("live.delete.forgotten");
    PD_TRY(LiveRecords(parts_.database).remove(info.id));
    return Catalogue(parts_.database).set_state(info);
  });
  return destroyed.ok() ? noted : destroyed;
}

Status Sandboxes::set_deadline(net::Task& task, LiveSandbox& sandbox, int64_t deadline_ms) {
  PD_TRY(sandbox.set_deadline(task, deadline_ms));
  return books_.run(
      task, [&, info = sandbox.info()] { return Catalogue(parts_.database).set_deadline(info); });
}

void Sandboxes::let_go(net::Task& task, const std::string& id) {
  const auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return;
  const bool goes_on = found->second.sandbox->setup().lifetime == isolation::Lifetime::leased &&
                       options_.lifetime == isolation::Lifetime::leased &&
                       found->second.sandbox->is_running();
  if (!goes_on) {
    (void)finish(task, id, "the daemon ended").ok();
    return;
  }
  Entry entry = std::move(found->second);
  sandboxes_.erase(found);
  entry.sandbox->let_go(task);
  entry.record->abandon();
}

void Sandboxes::end(net::Task& task) {
  ending_ = true;
  std::vector<std::shared_ptr<net::Event>> ended;
  std::vector<std::string> ids;
  for (const auto& [id, entry] : sandboxes_) ids.push_back(id);
  for (const std::string& id : ids) {
    auto done = std::make_shared<net::Event>(loop_);
    ended.push_back(done);
    loop_.spawn([this, id, done](net::Task& ender) {
      let_go(ender, id);
      done->set();
    });
  }
  for (const auto& event : ended) event->wait_surely(task);
  while (!creating_.empty()) task.sleep(std::chrono::milliseconds(5));
}

}  // namespace paddock::engine
