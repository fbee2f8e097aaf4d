#include "view/view_store.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "sys/clock.h"
#include "sys/digest.h"
#include "sys/files.h"
#include "sys/path_lock.h"
#include "view/apply/apply_journal.h"
#include "view/catalog.h"
#include "view/changes.h"
#include "view/collection.h"
#include "view/hide/mask.h"
#include "view/kept_view.h"
#include "view/layer_disk.h"
#include "view/opened_view.h"
#include "view/view_opener.h"
#include "view/view_removal.h"
#include "view/workspace_check.h"

namespace paddock::view {
namespace {

using model::HostPath;
using model::ViewId;

// An overlay takes 500 lowers (overlayfs, OVL_MAX_STACK); the host directory and the mask are two.
constexpr size_t kMaxLayers = 400;
constexpr size_t kMinPrefix = 4;

class Store final : public ViewStore {
 public:
  Store(HostPath home, store::Database& database) : home_(std::move(home)), catalog_(database) {}

  Status start() {
    PD_TRY(sys::make_dir(views_dir(home_).str(), 0700));
    PD_TRY(remove_unlisted(home_, catalog_));
    return recover_all();
  }

  Result<std::unique_ptr<OpenView>> create(const OpenOptions& options) override {
    HostSide host = PD_TRY(look_at(options.workspace, options));
    LockedView made = PD_TRY(make_view(home_, host, options));
    auto opened = open_step(home_, catalog_, std::move(made), host, options);
    if (!opened.ok()) PD_TRY(remove_unlisted(home_, catalog_));
    return opened;
  }

  Result<std::unique_ptr<OpenView>> reopen(const ViewId& id, const OpenOptions& options) override {
    LockedView locked = PD_TRY(lock_usable(id));
    if (locked.view.layers(0).size() >= kMaxLayers) {
      return Error(Code::failed_precondition,
                   fmt::format("view {} has {} layers", id.str(), kMaxLayers))
          .set_remedy("apply it and go on in a new view");
    }
    HostSide host = PD_TRY(look_at(locked.view.record.workspace(), options));
    return open_step(home_, catalog_, std::move(locked), host, options);
  }

  Result<std::optional<ChangeCounts>> settle(const ViewId& id, const StepEnd& end) override {
    sys::FileFd lock = PD_TRY(lock_view(ViewDirs(home_, id)));
    OpenedParts parts{PD_TRY(load_readable(id)), std::move(lock), {}, {}, {}, {}, {}, 0, 0};
    if (parts.view.steps.empty()) return std::optional<ChangeCounts>();
    StepRecord& last = parts.view.steps.back();
    const bool is_told = !last.step.outcome_json.empty();  // of somebody's command after that one
    if (last.sealed && is_told) return std::optional<ChangeCounts>();
    last.step.ended_ms = end.ended_ms;
    last.step.outcome_json = end.outcome_json;
    last.step.network_json = end.network_json;
    if (!last.sealed && !last.step.undone) {
      const Step step = last.step;
      return make_open_view(catalog_, std::move(parts))->finish(step);
    }
    PD_TRY(catalog_.put_step(id, last));
    return std::optional(count_changes(PD_TRY(changes_of(parts.view, LineCounts::skip))));
  }

  Result<std::vector<ViewInfo>> list() override {
    std::vector<ViewInfo> infos;
    for (const ViewRecord& record : PD_TRY(catalog_.views()))
      infos.push_back(PD_TRY(info_of(record)));
    return infos;
  }

  Result<ViewInfo> find(const std::string& prefix) override {
    if (prefix.size() < kMinPrefix) {
      return Error(Code::invalid_argument,
                   fmt::format("'{}' is too short for a view", printable(prefix)))
          .set_remedy(
              fmt::format("give {} characters or more; `paddock ls` lists views", kMinPrefix));
    }
    std::vector<ViewRecord> found;
    for (ViewRecord& record : PD_TRY(catalog_.views())) {
      if (record.id.str().compare(0, prefix.size(), prefix) == 0)
        found.push_back(std::move(record));
    }
    if (found.size() == 1) return info_of(found[0]);
    if (found.empty()) {
      return Error(Code::not_found, fmt::format("there is no view {}", printable(prefix)))
          .set_remedy("`paddock ls` lists views");
    }
    std::vector<std::string> ids;
    for (const ViewRecord& record : found) ids.push_back(record.id.str());
    return Error(Code::invalid_argument,
                 fmt::format("{} is one of {}", printable(prefix), join(ids, ", ")))
        .set_remedy("give more characters");
  }

  Result<ViewInfo> newest_of(const HostPath& workspace) override {
    auto real = sys::real_path(workspace.str());
    HostPath path = real.ok() ? HostPath(*real) : workspace;
    for (const ViewRecord& record : PD_TRY(catalog_.views())) {
      if (record.workspace() != path) continue;
      ViewInfo info = PD_TRY(info_of(record));
      if (info.state == ViewState::ready || info.state == ViewState::interrupted) return info;
    }
    return Error(Code::not_found,
                 fmt::format("{} has no view to apply or discard", printable(path.str())))
        .set_remedy("`paddock ls` lists the views of all workspaces");
  }

  Result<std::vector<Step>> steps(const ViewId& id) override {
    KeptView view = PD_TRY(load_view(home_, catalog_, id));
    std::vector<Step> steps;
    for (StepRecord& record : view.steps) steps.push_back(std::move(record.step));
    return steps;
  }

  Result<model::ChangeSet> changes(const ViewId& id) override {
    KeptView view = PD_TRY(load_readable(id));
    return changes_of(view, LineCounts::count);
  }

  Result<std::string> patch(const ViewId& id, const std::vector<std::string>& paths) override {
    KeptView view = PD_TRY(load_readable(id));
    LayerStack stack = PD_TRY(view.stack(0));
    return make_patch(stack, paths);
  }

  Result<ApplyReport> apply(const ViewId& id, const ApplyOptions& options) override {
    LockedView locked = PD_TRY(lock_usable(id));
    const HostPath& workspace = locked.view.record.workspace();
    PD_TRY(recover(workspace));
    PD_TRY(sys::make_dirs(apply_dir(workspace).str(), 0700));
    LayerStack stack = PD_TRY(locked.view.stack(0));
    ApplySite site{apply_dir(workspace), id.str()};
    ApplyReport report = PD_TRY(apply_changes(stack, options, site));
    bool wrote = options.writes == Writes::perform && !report.has_conflict;
    if (wrote) PD_TRY(mark_applied(locked.view));
    return report;
  }

  Result<std::string> apply_branch(const ViewId& id, const std::string& branch) override {
    LockedView locked = PD_TRY(lock_readable(id));
    GitView git = PD_TRY(locked.view.git());
    PD_TRY(sys::make_dir(git.scratch.str(), 0700));
    auto commit = bring_branch(git, branch);
    PD_TRY(sys::remove_tree(git.scratch.str()));
    return commit;
  }

  Status discard(const ViewId& id) override {
    KeptView view = PD_TRY(load_view(home_, catalog_, id));
    if (view.record.state == StoredState::discarded) return {};
    sys::FileFd lock = PD_TRY(lock_view(view.dirs));
    return remove_view(view.dirs, catalog_, id, Rows::keep);
  }

  Status rollback(const ViewId& id, uint32_t count) override {
    LockedView locked = PD_TRY(lock_usable(id));
    return undo_steps(locked.view, catalog_, count);
  }

  Result<std::vector<ViewInfo>> collect_garbage(const model::ViewRules& rules) override {
    std::vector<Candidate> candidates;
    auto records = PD_TRY(catalog_.views());
    for (const ViewRecord& record : records) {
      PD_TRY(recover(record.workspace()));
      candidates.push_back(PD_TRY(candidate_of(record.id)));
    }
    std::vector<ViewInfo> removed;
    for (const ViewInfo& info :
         choose_garbage(std::move(candidates), rules, sys::wall_clock_ms())) {
      ViewDirs dirs(home_, info.id);
      auto lock = lock_view(dirs, Patience::none);
      if (!lock.ok() && lock.error().code() == Code::failed_precondition) continue;
      PD_TRY(remove_view(dirs, catalog_, info.id, Rows::remove));
      removed.push_back(info);
    }
    PD_TRY(collect_masks(home_, rules.keep_seconds));
    return removed;
  }

 private:
  HostPath apply_dir(const HostPath& workspace) const {
    return home_ / "applies" / sys::sha256_hex(workspace.str()).substr(0, 24);
  }

  Result<HostSide> look_at(const HostPath& workspace, const OpenOptions& options) {
    Surroundings around = PD_TRY(read_surroundings(home_, options.homes));
    HostSide host;
    host.workspace = PD_TRY(check_workspace(workspace, around));
    PD_TRY(recover(host.workspace.path));
    host.git = find_git_trees(host.workspace, around);
    return host;
  }

  // Whatever command comes next finishes or undoes an apply that was cut. What cannot be now, since
  // an apply is under way or its tree is gone, is said to who next uses that workspace.
  Status recover_all() {
    HostPath applies = home_ / "applies";
    if (!sys::exists(applies.str())) return {};
    sys::DirFd dir = PD_TRY(sys::open_dir(applies.str()));
    for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(dir))) {
      HostPath directory = applies / entry.name;
      if (JournalDir(directory).was_cut()) (void)recover_in(directory);
    }
    return {};
  }

  Status recover(const HostPath& workspace) { return recover_in(apply_dir(workspace)); }

  // Finishes or undoes an apply that was cut.
  Status recover_in(const HostPath& directory) {
    if (!sys::exists(directory.str())) return {};
    Recovery recovery = PD_TRY_CTX("recovering an apply that was cut", recover_apply(directory));
    auto id = ViewId::parse(recovery.tag);
    if (recovery.outcome != Recovered::finished || !id.ok()) return {};
    auto view = load_view(home_, catalog_, *id);
    return view.ok() ? mark_applied(*view) : Status();
  }

  // Applied once nothing of its files is left to bring: held-back and unnamed paths stay.
  Status mark_applied(const KeptView& view) {
    LayerStack stack = PD_TRY(view.stack(0));
    model::ChangeSet rest = PD_TRY(compute_changes(stack, LineCounts::skip));
    if (!rest.changes.empty()) return {};
    return catalog_.durable_transaction(
        [&] { return catalog_.set_state(view.record.id, StoredState::applied); });
  }

  Result<KeptView> load_readable(const ViewId& id) {
    KeptView view = PD_TRY(load_view(home_, catalog_, id));
    if (view.record.state != StoredState::discarded) return view;
    return Error(Code::failed_precondition, fmt::format("view {} was discarded", id.str()));
  }

  // Its steps are sealed, and it stays as it is while the lock is held.
  Result<LockedView> lock_readable(const ViewId& id) {
    PD_TRY(load_readable(id));
    sys::FileFd lock = PD_TRY(lock_view(ViewDirs(home_, id)));
    LockedView locked{PD_TRY(load_readable(id)), std::move(lock)};
    PD_TRY(seal_interrupted(locked.view, catalog_));
    return locked;
  }

  Result<LockedView> lock_usable(const ViewId& id) {
    LockedView locked = PD_TRY(lock_readable(id));
    if (locked.view.record.state != StoredState::applied) return locked;
    return Error(Code::failed_precondition, fmt::format("view {} was applied", id.str()))
        .set_remedy("start a new view");
  }

  Result<Candidate> candidate_of(const ViewId& id) {
    KeptView view = PD_TRY(load_view(home_, catalog_, id));
    Candidate candidate;
    candidate.info = PD_TRY(info_of(view.record));
    candidate.used_ms = view.record.created_ms;
    for (const StepRecord& step : view.steps) {
      candidate.used_ms = std::max(candidate.used_ms, step.step.started_ms);
    }
    ViewState state = candidate.info.state;
    candidate.is_done =
        state == ViewState::discarded || (state == ViewState::applied && !view.has_commits());
    return candidate;
  }

  Result<ViewInfo> info_of(const ViewRecord& record) {
    ViewInfo info;
    info.id = record.id;
    info.workspace = record.workspace();
    info.created_ms = record.created_ms;
    info.bytes = record.bytes;
    for (const StepRecord& step : PD_TRY(catalog_.steps(record.id)))
      info.steps += !step.step.undone;
    info.state = value_of(kViewStateNames, name_of(kStoredStateNames, record.state))
                     .value_or(ViewState::running);
    if (record.state != StoredState::open) return info;
    ViewDirs dirs(home_, record.id);
    auto probe = sys::lock_path(dirs.lock().str(), sys::LockMode::shared, sys::LockWait::no);
    bool held = !probe.ok() && probe.error().code() == Code::failed_precondition;
    info.state = held ? ViewState::running : ViewState::interrupted;
    info.bytes = disk_use(dirs.root());
    return info;
  }

  HostPath home_;
  Catalog catalog_;
};

}  // namespace

Result<std::unique_ptr<ViewStore>> open_view_store(const HostPath& home,
                                                   store::Database& database) {
  auto opened = std::make_unique<Store>(home, database);
  PD_TRY(opened->start());
  return std::unique_ptr<ViewStore>(std::move(opened));
}

}  // namespace paddock::view
