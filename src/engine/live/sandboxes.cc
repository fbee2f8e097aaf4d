#include "engine/live/sandboxes.h"

#include <fmt/core.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "engine/live/catalogue.h"
#include "engine/live/live_record.h"
#include "sys/clock.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/path_lock.h"

namespace paddock::engine {
namespace {

service::Holding holding_of(const model::Limits& limits) {
  // Without a limit it may use every processor.
  const double cpus = limits.cpus > 0 ? limits.cpus : static_cast<double>(::get_nprocs());
  return {1, limits.memory_bytes, limits.disk_bytes, cpus};
}

}  // namespace

LiveInfo info_of(const CreateRequest& request, const model::SandboxId& id) {
  LiveInfo info;
  info.id = id;
  info.template_name = request.template_name;
  info.base_template = request.origin ? request.origin->base_template : request.template_name;
  info.environment = request.environment;
  info.created_ms = sys::wall_clock_ms();
  info.deadline_ms = info.created_ms + request.timeout_ms;
  info.metadata = request.metadata;
  info.owner = request.owner;
  info.lifecycle = request.lifecycle;
  info.command = request.command;
  if (request.workspace) info.owner.reach = model::Owner::Reach::socket;
  info.purpose = request.purpose;
  return info;
}

Sandboxes::Sandboxes(net::Loop& loop, Parts parts, policy::Compiled policy,
                     SandboxesOptions options)
    : loop_(loop),
      parts_(std::move(parts)),
      policy_(std::move(policy)),
      options_(std::move(options)),
      network_(parts_.home, ssh_program_beside(parts_.agent_program)),
      views_(parts_.home),
      pool_(loop, options_.pool, pool_hooks()),
      disk_watch_(loop, watch_hooks()) {
  for (size_t i = 0; i < options_.starters; ++i) {
    starters_.push_back(std::make_unique<net::Worker>());
  }
}

Sandboxes::~Sandboxes() {
  no_more_removals_ = true;
}

void Sandboxes::report_gate() {
  if (options_.observer == nullptr) return;
  auto told = [this](const model::SandboxId& id, const auto& tell) {
    const auto found = sandboxes_.find(id.str());
    if (found != sandboxes_.end()) tell(found->second.sandbox->info());
  };
  GateEvents::Telling telling;
  telling.one = [this, told](const model::EgressEvent& event) {
    told(event.sandbox, [&](const LiveInfo& info) { options_.observer->on_egress(info, event); });
  };
  telling.more = [this, told](const model::SandboxId& id, uint64_t count) {
    told(id, [&](const LiveInfo& info) { options_.observer->on_more_egress(info, count); });
  };
  gate_events_ = std::make_unique<GateEvents>(loop_, std::move(telling));
  network_.set_on_event([events = gate_events_.get()](const model::EgressEvent& event) {
    events->add(event, sys::wall_clock_ms());
  });
}

DiskWatch::Hooks Sandboxes::watch_hooks() {
  DiskWatch::Hooks hooks;
  hooks.sandboxes = [this] { return list(); };
  hooks.directory_of = [this](const std::string& layer) { return layers().directory_of(layer); };
  hooks.on_over = [this](LiveSandbox& sandbox, uint64_t bytes) {
    end_later(sandbox, fmt::format("what it wrote takes {} bytes of disk, and its limit is {}",
                                   bytes, format_bytes(sandbox.setup().limits.disk_bytes)));
  };
  return hooks;
}

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
  report_gate();
  PD_TRY(Catalogue(parts_.database).forget_old());
  PD_TRY(RunTable(parts_.database).forget_old());
  // The tools are asked first, which takes seconds: what is paused goes on for as long as it takes
  // to speak with its agent.
  const auto earlier = PD_TRY(Catalogue(parts_.database).list());
  const auto lives = [](const LiveInfo& info) { return info.state != SandboxState::gone; };
  if (std::ranges::any_of(earlier, lives))
    (void)granted().ok();  // the error comes up where it is used
  found_ = PD_TRY_CTX("taking over what an earlier daemon left", adopt_all(parts_));
  // Only now is it known which of them still write to theirs.
  remove_later(PD_TRY(layers().begin()));
  return {};
}

void Sandboxes::take_over(net::Task& task) {
  for (Adopted& found : std::exchange(found_, {})) {
    net::Worker& worker = *starters_[next_starter_++ % starters_.size()];
    Status recalled = recall_network(found);
    auto rejoined = worker.run(task, [&] { return rejoin(found); });
    if (!rejoined.ok()) {
      recalled = rejoined.error();
      rejoined = Rejoined();
    }
    found.setup.egress = std::move(rejoined->granted);
    auto sandbox = std::make_shared<LiveSandbox>(
        loop_, std::move(found.info), std::move(found.setup),
        LiveParts{std::move(found.backend), std::move(found.sandbox), std::move(found.link),
                  std::move(found.waiting), worker, std::move(rejoined->network),
                  std::move(rejoined->bridge)},
        on_end());
    sandbox->note_network(std::move(found.network));
    sandboxes_.emplace(sandbox->id(), Entry{sandbox, std::move(found.record)});
    look_after(*sandbox);
    sandbox->take_over(task, found.resumed);
    if (auto process = sandbox->main_process()) follow_main(*sandbox, std::move(process));
    if (!recalled.ok()) sandbox->note_closed(recalled.error());
  }
  pool_.start();
}

// What was asked for and cannot be read any more lets nothing out.
Status Sandboxes::recall_network(Adopted& found) const {
  if (found.network.text.empty() && found.network.internet.value_or(true)) return {};
  const NetworkRequest recorded = found.network;
  found.network.narrowing.emplace();
  if (!options_.read_network) return Error(Code::internal, "nobody reads what clients asked for");
  found.network = PD_TRY(options_.read_network(found.info.owner, recorded));
  return {};
}

// On a worker's thread.
Result<Rejoined> Sandboxes::rejoin(const Adopted& found) {
  if (!found.link) return Rejoined();  // asleep, or nobody here speaks with it
  std::shared_ptr<const EgressSource> source;
  if (found.setup.workspace) {
    source = PD_TRY(ruling_of(*found.setup.workspace)).granted;
  } else {
    source = PD_TRY(granted());
  }
  const LiveEgress egress{network_, source};
  return rejoin_network({egress, found.info.id, found.network, found.setup.placeholder_key},
                        *found.link);
}

LiveSandbox::OnEnd Sandboxes::on_end() {
  return
      [this](LiveSandbox& sandbox, std::string reason) { end_later(sandbox, std::move(reason)); };
}

void Sandboxes::look_after(LiveSandbox& sandbox) {
  sandbox.set_observer(options_.observer);
  sandbox.set_on_time_up([this](LiveSandbox& due) { on_time_up(due); });
  sandbox.set_measure_disk([this, watched = &sandbox](net::Task& measurer) {
    return disk_watch_.used_by(measurer, *watched);
  });
  disk_watch_.start();
}

std::shared_ptr<LiveSandbox> Sandboxes::find(const std::string& id) {
  auto found = sandboxes_.find(id);
  if (found == sandboxes_.end() || !found->second.sandbox->is_alive()) return nullptr;
  return found->second.sandbox;
}

std::vector<std::shared_ptr<LiveSandbox>> Sandboxes::list() {
  std::vector<std::shared_ptr<LiveSandbox>> out;
  for (auto& [id, entry] : sandboxes_) {
    if (entry.sandbox->is_alive()) out.push_back(entry.sandbox);
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
  std::optional<Entry> warm = take_warm(task, request);
  auto made = warm ? Result<Entry>(*warm) : make(task, std::move(request), Taker::client);
  creating_.erase(std::ranges::find(creating_, owner));
  if (!made.ok()) return std::move(made).error();
  const std::string id = made->sandbox->id();
  auto sandbox = made->sandbox;
  sandboxes_.emplace(id, std::move(*made));
  look_after(*sandbox);
  if (!warm) sandbox->begin();
  if (ending_) {
    PD_TRY(finish(task, id, "the daemon ended"));
    return Error(Code::unavailable, "the daemon is ending");
  }
  Status started = warm ? Status() : start_services(task, *sandbox);
  if (!started.ok()) {
    (void)finish(task, id, "what its template starts did not start").ok();
    return std::move(started).error();
  }
  const Status noted = books_.run(
      task, [&, info = sandbox->info()] { return Catalogue(parts_.database).set_state(info); });
  if (!noted.ok()) {
    (void)finish(task, id, "it could not be put on record").ok();
    return noted.error();
  }
  return sandbox;
}

Result<Sandboxes::Entry> Sandboxes::make(net::Task& task, CreateRequest request, Taker taker) {
  net::Worker& worker = *starters_[next_starter_++ % starters_.size()];
  const std::string base = request.origin ? request.origin->base_template : request.template_name;
  const std::string below = request.origin ? request.origin->layer : "";
  const LayerPins::Hold below_pin = pins_.hold(below);
  std::optional<LiveWorkspace> workspace;
  if (request.workspace) workspace = LiveWorkspace{{}, *request.workspace, {}, {}};
  LivePlan planned = PD_TRY(plan(task, worker, {base, request.network, workspace}));
  if (planned.workspace) workspace = planned.workspace;
  std::unique_ptr<SandboxRecord> record;
  LiveInfo info;
  const Status journalled = books_.run(task, [&]() -> Status {
    auto made = SandboxRecord::create(parts_.home, parts_.database, planned.level,
                                      workspace ? workspace->view : std::nullopt);
    if (!made.ok()) return std::move(made).error();
    record = std::make_unique<SandboxRecord>(std::move(*made));
    info = info_of(request, record->id());
    info.layer = PD_TRY(Layers::make_directory(parts_.home));
    PD_TRY(layers().add(info.layer, below));
    PD_TRY(Catalogue(parts_.database).add(info));
    if (workspace) PD_TRY(Catalogue(parts_.database).set_view(info.id, *workspace->view));
    return Catalogue(parts_.database).set_layer(info.id, info.layer);
  });
  PD_TRY(journalled);
  const LayerPins::Hold pin = pins_.hold(info.layer);
  sys::fault_point("live.create.journalled");
  auto started = boot(task, std::move(planned),
                      {info, request.network, *record, worker, request.timeout_ms, taker, {}});
  if (!started.ok()) {
    info.state = SandboxState::gone;
    info.reason = started.error().describe();
    (void)books_.run(task, [&] {
      record.reset();
      return Catalogue(parts_.database).set_state(info).ok();
    });
    return std::move(started).error();
  }
  // Its time begins when it can be used.
  info.deadline_ms = sys::wall_clock_ms() + request.timeout_ms;
  Entry entry;
  entry.record = std::move(record);
  entry.sandbox = std::make_shared<LiveSandbox>(loop_, std::move(info), std::move(started->setup),
                                                std::move(started->parts), on_end());
  entry.sandbox->note_network(std::move(request.network));
  return entry;
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
  const std::shared_ptr<void> under_way(nullptr, [this](void*) { --finishing_; });
  ++finishing_;
  auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) {
    if (auto warm = pool_.remove(id)) discard(task, std::move(*warm));
    return {};
  }
  const std::shared_ptr<LiveSandbox> sandbox = found->second.sandbox;
  keep_run(task, *sandbox, reason);
  const Status destroyed = sandbox->kill(task, std::move(reason));
  found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return destroyed;  // another one has finished it meanwhile
  if (options_.observer != nullptr) {
    options_.observer->on_ended(sandbox->info(), sandbox->final_usage());
  }
  std::shared_ptr<SandboxRecord> record = std::move(found->second.record);
  const auto settling = settling_.insert(id);
  sandboxes_.erase(found);
  if (destroyed.ok()) settle_at_end(task, *sandbox);
  const Status noted = books_.run(task, [&, info = sandbox->info()]() -> Status {
    if (!destroyed.ok()) record->abandon();
    sys::fault_point("live.delete.destroyed");
    record.reset();
    sys::fault_point("live.delete.forgotten");
    PD_TRY(LiveRecords(parts_.database).remove(info.id));
    return Catalogue(parts_.database).set_state(info);
  });
  settling_.erase(settling);
  (void)collect(task).ok();  // what fails here is done by the next one
  return destroyed.ok() ? noted : destroyed;
}

Status Sandboxes::set_deadline(net::Task& task, LiveSandbox& sandbox, int64_t deadline_ms) {
  PD_TRY(sandbox.set_deadline(task, deadline_ms));
  return books_.run(
      task, [&, info = sandbox.info()] { return Catalogue(parts_.database).set_deadline(info); });
}

Status Sandboxes::set_network(net::Task& task, LiveSandbox& sandbox, NetworkRequest request) {
  PD_TRY(sandbox.set_network(task, std::move(request)));
  return keep_record(task, sandbox);
}

void Sandboxes::let_go(net::Task& task, const std::string& id) {
  auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return;
  const std::shared_ptr<LiveSandbox> sandbox = found->second.sandbox;
  const auto turn = sandbox->changes().enter(task);  // neither half paused nor half a snapshot
  const bool goes_on = sandbox->setup().lifetime == isolation::Lifetime::leased &&
                       options_.lifetime == isolation::Lifetime::leased && sandbox->is_alive();
  if (!goes_on) {
    (void)finish(task, id, "the daemon ended").ok();
    return;
  }
  found = sandboxes_.find(id);
  Entry entry = std::move(found->second);
  sandboxes_.erase(found);
  entry.sandbox->let_go(task);
  entry.record->abandon();
}

void Sandboxes::end(net::Task& task) {
  ending_ = true;
  pool_.stop(task);
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
  disk_watch_.stop(task);
  network_.set_on_event(nullptr);
  while (!creating_.empty() || finishing_ > 0) task.sleep(std::chrono::milliseconds(5));
}

}  // namespace paddock::engine
