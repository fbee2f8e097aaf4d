// Snapshots, forks and rollbacks: whose layer lies over which.
#include <fmt/core.h>

#include <utility>

#include "base/strings.h"
#include "engine/live/catalogue.h"
#include "engine/live/layer_copy.h"
#include "engine/live/sandboxes.h"
#include "model/ids.h"
#include "sys/clock.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/random.h"
#include "view/layer_disk.h"

namespace paddock::engine {
namespace {

using model::HostPath;

// Everything in it, and that it is there.
Status sync_all(const HostPath& layer) {
  const sys::DirFd directory = PD_TRY(sys::open_dir(layer.str()));
  for (const sys::DirEntry& place : PD_TRY(sys::list_dir(directory))) {
    const HostPath held = layer / place.name / "fs";
    if (sys::exists(held.str())) PD_TRY(view::sync_layer(held));
    PD_TRY(view::sync_path(layer / place.name));
  }
  return view::sync_path(layer);
}

CreateRequest like(const LiveSandbox& sandbox, int64_t timeout_ms) {
  const LiveInfo& info = sandbox.info();
  CreateRequest request;
  request.template_name = info.template_name;
  request.timeout_ms = timeout_ms;
  request.metadata = info.metadata;
  request.environment = info.environment;
  request.lifecycle = info.lifecycle;
  request.owner = info.owner;
  request.network = sandbox.network();
  return request;
}

}  // namespace

// ---- what is written so far, sealed

Result<Sandboxes::Sealed> Sandboxes::seal(net::Task& task, LiveSandbox& sandbox) {
  PD_TRY(check_no_workspace(sandbox, "a snapshot or fork"));
  const auto turn = sandbox.changes().enter(task);
  if (!sandbox.is_alive()) return Error(Code::not_found, "the sandbox has ended");
  if (sandbox.is_asleep()) return seal_at_rest(task, sandbox);
  if (sandbox.is_running() && PD_TRY(sandbox.is_idle(task))) return seal_idle(task, sandbox);
  return seal_frozen(task, sandbox);
}

// The top layer is nobody's to write to any more: a fresh one takes its place.
Result<Sandboxes::Sealed> Sandboxes::seal_at_rest(net::Task& task, LiveSandbox& sandbox) {
  const std::string top = sandbox.info().layer;
  Sealed sealed{top, Guarantee::quiesced, pins_.hold(top)};
  PD_TRY(put_layer_over(task, sandbox, top));
  return sealed;
}

// Nothing runs in it but the agent, which is started again over both layers.
Result<Sandboxes::Sealed> Sandboxes::seal_idle(net::Task& task, LiveSandbox& sandbox) {
  const int64_t deadline_ms = sandbox.info().deadline_ms;
  const std::string top = sandbox.info().layer;
  const auto pin = pins_.hold(top);
  PD_TRY(lie_down(task, sandbox));
  auto sealed = seal_at_rest(task, sandbox);
  Status standing = stand_up(task, sandbox, deadline_ms);
  if (!standing.ok() && sealed.ok() && sandbox.is_alive()) {
    // As it was before.
    Status restored = set_layer(task, sandbox, top);
    if (restored.ok()) restored = stand_up(task, sandbox, deadline_ms);
    if (restored.ok()) return std::move(standing).error().add_context("going on in a new layer");
  }
  if (!standing.ok()) {
    end_later(sandbox, "it did not start again: " + standing.error().describe());
    return std::move(standing).error();
  }
  return sealed;
}

// Commands run: they stand still while what was written is copied. Linear in its files.
Result<Sandboxes::Sealed> Sandboxes::seal_frozen(net::Task& task, LiveSandbox& sandbox) {
  const bool runs = sandbox.is_running();
  const int64_t deadline_ms = sandbox.info().deadline_ms;
  if (runs) PD_TRY(sandbox.stand_still(task));
  auto copied = copier_.run(task, [&]() -> Result<std::string> {
    const std::string id = PD_TRY(Layers::make_directory(parts_.home));
    const HostPath to = layers().directory_of(id);
    Status done = copy_layer(layers().directory_of(sandbox.info().layer), to);
    sys::fault_point("snapshot.copied");
    if (done.ok()) return id;
    (void)sys::remove_tree(to.str()).ok();
    return std::move(done).error();
  });
  if (runs) {
    Status going = sandbox.resume(task, deadline_ms);
    if (!going.ok() && copied.ok()) copied = std::move(going).error();
  }
  if (!copied.ok()) return std::move(copied).error();
  Sealed sealed{*copied, Guarantee::crash_consistent, pins_.hold(*copied)};
  PD_TRY(books_.run(task, [&]() -> Status {
    const auto stack = PD_TRY(layers().stack_of(sandbox.info().layer));
    return layers().add(*copied, stack.size() > 1 ? stack[1] : "");
  }));
  return sealed;
}

Result<Sandboxes::StepLayer> Sandboxes::seal_step(net::Task& task, LiveSandbox& sandbox) {
  const auto turn = sandbox.changes().enter(task);
  if (!sandbox.is_running()) return Error(Code::unavailable, "the sandbox has ended");
  Sealed sealed = PD_TRY(seal_idle(task, sandbox));
  PD_TRY(copier_.run(task, [&] { return sync_all(layers().directory_of(sealed.layer)); }));
  return StepLayer{std::move(sealed.layer), std::move(sealed.pin)};
}

Status Sandboxes::put_layer_over(net::Task& task, LiveSandbox& sandbox, const std::string& below) {
  std::string fresh;
  PD_TRY(books_.run(task, [&]() -> Status {
    fresh = PD_TRY(Layers::make_directory(parts_.home));
    sys::fault_point("layer.made");
    // Refused while nothing is lost by it.
    (void)PD_TRY(layers().stack_of(below));
    PD_TRY(layers().add(fresh, below));
    return Catalogue(parts_.database).set_layer(sandbox.info().id, fresh);
  }));
  sandbox.set_layer(fresh);
  return {};
}

Status Sandboxes::set_layer(net::Task& task, LiveSandbox& sandbox, const std::string& layer) {
  const auto pin = pins_.hold(layer);
  PD_TRY(books_.run(
      task, [&] { return Catalogue(parts_.database).set_layer(sandbox.info().id, layer); }));
  sandbox.set_layer(layer);
  return {};
}

// ---- snapshots

Result<Snapshot> Sandboxes::snapshot(net::Task& task, LiveSandbox& sandbox, std::string name) {
  const Sealed sealed = PD_TRY_CTX("making a snapshot", seal(task, sandbox));
  // What it holds is on disk before anything names it.
  PD_TRY_CTX("making a snapshot",
             copier_.run(task, [&] { return sync_all(layers().directory_of(sealed.layer)); }));
  sys::fault_point("snapshot.synced");
  Snapshot snapshot;
  snapshot.id = model::SandboxId::from_entropy(sys::random_bytes(8)).str();
  snapshot.name = std::move(name);
  snapshot.owner = sandbox.info().owner;
  snapshot.sandbox = sandbox.id();
  snapshot.template_name = sandbox.info().base_template;
  snapshot.layer = sealed.layer;
  snapshot.guarantee = sealed.guarantee;
  snapshot.created_ms = sys::wall_clock_ms();
  PD_TRY(books_.run(task, [&] { return SnapshotTable(parts_.database).add(snapshot); }));
  return snapshot;
}

Result<std::vector<Snapshot>> Sandboxes::snapshots(net::Task& task) {
  return books_.run(task, [&] { return SnapshotTable(parts_.database).list(); });
}

// Somebody else's of the same name hides nothing.
Result<std::optional<Snapshot>> Sandboxes::find_snapshot(net::Task& task,
                                                         const std::string& id_or_name,
                                                         const model::Caller& caller) {
  std::optional<Snapshot> named;
  if (id_or_name.empty()) return named;
  for (Snapshot& snapshot : PD_TRY(snapshots(task))) {
    if (!caller.may_see(snapshot.owner)) continue;
    if (snapshot.id == id_or_name) return std::optional(std::move(snapshot));
    if (!named && snapshot.name == id_or_name) named = std::move(snapshot);
  }
  return named;
}

Status Sandboxes::remove_snapshot(net::Task& task, const std::string& id) {
  PD_TRY(books_.run(task, [&] { return SnapshotTable(parts_.database).remove(id); }));
  return collect(task);
}

Result<Sandboxes::StepLayer> Sandboxes::put_settings_over(net::Task& task, const std::string& below,
                                                          const TemplateSettings& settings) {
  const auto pin_below = pins_.hold(below);
  const std::string id = PD_TRY(copier_.run(task, [&]() -> Result<std::string> {
    std::string made = PD_TRY(Layers::make_directory(parts_.home));
    PD_TRY(view::sync_path(parts_.home / "layers"));
    return made;
  }));
  StepLayer layer{id, pins_.hold(id)};
  PD_TRY(books_.run(task, [&]() -> Status {
    // One more must fit, and that of a sandbox.
    if (!below.empty()) (void)PD_TRY(layers().stack_of(below));
    return layers().add(id, below, encode(settings));
  }));
  return layer;
}

Result<TemplateSettings> Sandboxes::settings_of(net::Task& task, const std::string& layer) {
  if (layer.empty()) return TemplateSettings();
  return books_.run(task, [&]() -> Result<TemplateSettings> {
    return layers().settings_of(PD_TRY(layers().stack_of(layer)));
  });
}

// What is forgotten is removed by a thread of its own: it may be long.
Status Sandboxes::collect(net::Task& task) {
  const auto pinned = pins_.held();
  auto left = PD_TRY(books_.run(task, [&] { return layers().collect(pinned); }));
  remove_later(std::move(left));
  return {};
}

void Sandboxes::remove_later(std::vector<HostPath> layers) {
  for (HostPath& directory : layers) {
    janitor_.post([this, directory = std::move(directory)] {
      // What is left of it is found by begin() of a later daemon.
      (void)sys::remove_tree(directory.str(), no_more_removals_).ok();
    });
  }
}

// ---- forks and rollbacks

Result<std::vector<Result<std::shared_ptr<LiveSandbox>>>> Sandboxes::fork(net::Task& task,
                                                                          LiveSandbox& sandbox,
                                                                          ForkRequest wanted) {
  const Sealed sealed = PD_TRY_CTX("forking", seal(task, sandbox));
  CreateRequest request = like(sandbox, wanted.timeout_ms);
  request.quota = wanted.quota;
  request.origin = Origin{sandbox.info().base_template, sealed.layer};
  std::vector<std::optional<Result<std::shared_ptr<LiveSandbox>>>> made(wanted.count);
  std::vector<std::shared_ptr<net::Event>> ended;
  for (auto& result : made) {
    auto done = std::make_shared<net::Event>(loop_);
    ended.push_back(done);
    loop_.spawn([this, &request, &result, done](net::Task& maker) {
      result.emplace(create(maker, request));
      done->set();
    });
  }
  for (const auto& event : ended) event->wait_surely(task);
  std::vector<Result<std::shared_ptr<LiveSandbox>>> out;
  for (auto& result : made) out.push_back(std::move(*result));
  return out;
}

Status Sandboxes::roll_back(net::Task& task, LiveSandbox& sandbox, const Snapshot& to) {
  PD_TRY(check_no_workspace(sandbox, "a rollback to a snapshot"));
  const auto turn = sandbox.changes().enter(task);
  if (!sandbox.is_alive()) return Error(Code::not_found, "the sandbox has ended");
  if (to.template_name != sandbox.info().base_template) {
    return Error(Code::invalid_argument,
                 fmt::format("snapshot {} lies over template '{}', the sandbox over '{}'", to.id,
                             printable(to.template_name), sandbox.info().base_template));
  }
  const auto pin = pins_.hold(to.layer);
  const std::string before = sandbox.info().layer;
  auto pin_before = pins_.hold(before);  // until there is no way back to it
  const bool runs = sandbox.is_running();
  const int64_t deadline_ms = sandbox.info().deadline_ms;
  if (!sandbox.is_asleep()) PD_TRY(lie_down(task, sandbox));
  Status back = put_layer_over(task, sandbox, to.layer);
  if (!runs) {
    sandbox.settle(Keep::files);
    PD_TRY(back);
    pin_before.reset();
    return collect(task);
  }
  Status standing = stand_up(task, sandbox, deadline_ms);
  if (!standing.ok() && back.ok() && sandbox.is_alive()) {
    PD_TRY(set_layer(task, sandbox, before));
    back = std::move(standing);
    standing = stand_up(task, sandbox, deadline_ms);
  }
  if (!standing.ok()) {
    end_later(sandbox, "it did not start again: " + standing.error().describe());
    return standing;
  }
  PD_TRY(back);
  pin_before.reset();
  return collect(task);
}

}  // namespace paddock::engine
