#include "view/view_removal.h"

#include <fmt/core.h>
#include <time.h>

#include "base/strings.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/path_lock.h"
#include "view/layer_disk.h"

namespace paddock::view {
namespace {

using model::HostPath;
using model::ViewId;

constexpr int kLockAttempts = 20;
constexpr timespec kLockPause{0, 5'000'000};

// The lock file goes last: until then nobody else takes the directory for free.
Status remove_directory(const ViewDirs& dirs) {
  auto root = sys::open_dir(dirs.root().str());
  if (!root.ok())
    return root.error().code() == Code::not_found ? Status() : Status(std::move(root).error());
  for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(*root))) {
    if (entry.name != "lock") PD_TRY(sys::remove_tree_at(*root, entry.name));
    sys::fault_point("view.remove.entry");
  }
  PD_TRY(sys::remove_tree_at(*root, "lock"));
  return sys::remove_tree(dirs.root().str());
}

// A directory that no row lists, unless somebody is just making it.
Status remove_orphan(const HostPath& home, Catalog& catalog, const ViewId& id) {
  ViewDirs dirs(home, id);
  auto lock = lock_view(dirs, Patience::none);
  if (!lock.ok()) return {};
  auto record = PD_TRY(catalog.find(id));
  if (record && record->state != StoredState::discarded) return {};
  return remove_directory(dirs);
}

// Nothing if another process has removed it since its row was read.
Result<std::optional<KeptView>> load_if_there(const HostPath& home, Catalog& catalog,
                                              const ViewId& id) {
  auto view = load_view(home, catalog, id);
  if (view.ok()) return std::optional(std::move(*view));
  if (view.error().code() == Code::not_found) return std::optional<KeptView>();
  return std::move(view).error();
}

// Killed before its command began: there is no history and no work in it.
Status remove_unbegun(const HostPath& home, Catalog& catalog, const ViewId& id) {
  ViewDirs dirs(home, id);
  auto lock = lock_view(dirs, Patience::none);
  if (!lock.ok() && lock.error().code() != Code::not_found) return {};
  auto view = PD_TRY(load_if_there(home, catalog, id));
  if (!view || view->record.state != StoredState::open || view->steps.size() != 1) return {};
  if (view->steps[0].step.started_ms != 0) return {};
  for (size_t tree = 0; tree < view->tree_count(); ++tree) {
    auto unchanged = is_unchanged(dirs.layer(tree, view->last_number()));
    if (unchanged.ok() && !*unchanged) return {};
  }
  return remove_view(dirs, catalog, id, Rows::remove);
}

}  // namespace

Result<sys::FileFd> lock_view(const ViewDirs& dirs, Patience patience) {
  for (int attempt = 1;; ++attempt) {
    auto lock = sys::lock_path(dirs.lock().str(), sys::LockMode::exclusive, sys::LockWait::no);
    if (lock.ok() || lock.error().code() != Code::failed_precondition) return lock;
    if (patience == Patience::none || attempt == kLockAttempts) break;
    ::nanosleep(&kLockPause, nullptr);
  }
  return Error(Code::failed_precondition, "a command runs in this view")
      .set_remedy("wait until it has ended, or end it");
}

Status remove_view(const ViewDirs& dirs, Catalog& catalog, const ViewId& id, Rows rows) {
  if (rows == Rows::remove) {
    PD_TRY(catalog.remove(id));
  } else {
    PD_TRY(catalog.set_state(id, StoredState::discarded));
    PD_TRY(catalog.set_bytes(id, 0));
  }
  sys::fault_point("view.remove.row");
  return remove_directory(dirs);
}

Status undo_steps(KeptView& view, Catalog& catalog, uint32_t count) {
  const ViewId& id = view.record.id;
  std::vector<StepRecord*> last;
  for (auto step = view.steps.rbegin(); step != view.steps.rend() && last.size() < count; ++step) {
    if (!step->step.undone) last.push_back(&*step);
  }
  if (last.size() < count || count == 0) {
    return Error(Code::invalid_argument, fmt::format("view {} has {} commands to undo, not {}",
                                                     id.str(), last.size(), count))
        .set_remedy("`paddock show` lists them");
  }
  for (StepRecord* step : last) step->step.undone = true;
  auto write_rows = [&]() -> Status {
    for (StepRecord* step : last) PD_TRY(catalog.put_step(id, *step));
    return {};
  };
  PD_TRY(catalog.durable_transaction(write_rows));
  sys::fault_point("view.undo.row");
  LayerStack stack = PD_TRY(view.stack(0));
  PD_TRY(prune_bases(stack));
  PD_TRY(remove_undone_layers(view, catalog));
  return catalog.set_bytes(id, disk_use(view.dirs.root()));
}

Status remove_undone_layers(KeptView& view, Catalog& catalog) {
  for (StepRecord& step : view.steps) {
    if (!step.step.undone || step.layers == 0) continue;
    for (size_t tree = 0; tree < view.tree_count(); ++tree) {
      PD_TRY(sys::remove_tree(view.dirs.step(tree, step.step.number).str()));
      sys::fault_point("view.undo.layer");
    }
    step.layers = 0;
    PD_TRY(catalog.put_step(view.record.id, step));
  }
  return {};
}

Status remove_unlisted(const HostPath& home, Catalog& catalog) {
  auto views = sys::open_dir(views_dir(home).str());
  if (!views.ok()) return {};
  auto entries = PD_TRY(sys::list_dir(*views));
  auto states = PD_TRY(catalog.states());
  for (const sys::DirEntry& entry : entries) {
    auto id = ViewId::parse(entry.name);
    if (!id.ok()) continue;
    auto row = states.find(entry.name);
    if (row == states.end() || row->second == StoredState::discarded) {
      PD_TRY_CTX("removing what is left of view " + entry.name, remove_orphan(home, catalog, *id));
    }
  }
  for (const auto& [text, state] : states) {
    if (state != StoredState::open) continue;
    ViewId id = PD_TRY(ViewId::parse(text));
    PD_TRY(remove_unbegun(home, catalog, id));
  }
  for (const ViewId& id : PD_TRY(catalog.half_undone())) {
    auto lock = lock_view(ViewDirs(home, id), Patience::none);
    if (!lock.ok()) continue;
    auto view = PD_TRY(load_if_there(home, catalog, id));
    if (view) PD_TRY(remove_undone_layers(*view, catalog));
  }
  return {};
}

}  // namespace paddock::view
