#include "view/opened_view.h"

#include <algorithm>

#include "sys/clock.h"
#include "sys/fault_point.h"
#include "view/layer_disk.h"
#include "view/view_removal.h"

namespace paddock::view {
namespace {

constexpr int64_t kMeasureEveryUs = 500'000;

class Opened final : public OpenView {
 public:
  Opened(Catalog& catalog, OpenedParts parts) : catalog_(catalog), parts_(std::move(parts)) {}
  // Without finish() the view stays, as interrupted; but not when its command never began.
  ~Opened() override {
    if (!finished_ && !begun_) (void)give_up().ok();
  }

  const model::ViewId& id() const override { return parts_.view.record.id; }
  const std::vector<model::OverlayTree>& trees() const override { return parts_.trees; }
  const std::vector<model::Symlink>& links() const override { return parts_.links; }
  uid_t owner_uid() const override { return parts_.owner_uid; }
  gid_t owner_gid() const override { return parts_.owner_gid; }
  const std::vector<std::string>& hidden() const override { return parts_.hidden; }
  const std::vector<model::Control>& controls() const override { return parts_.controls; }

  std::vector<int> held() const override {
    std::vector<int> held{parts_.lock.get()};
    if (parts_.mask_use.is_open()) held.push_back(parts_.mask_use.get());
    return held;
  }

  uint64_t upper_bytes() override {
    int64_t now = sys::monotonic_us();
    if (measured_at_us_ != 0 && now - measured_at_us_ < kMeasureEveryUs) return measured_;
    measured_at_us_ = now;
    measured_ = 0;
    for (const model::OverlayTree& tree : parts_.trees) measured_ += disk_use(tree.upper->upper);
    return measured_;
  }

  Status begin(const Step& step) override {
    fill(step);
    PD_TRY(catalog_.put_step(id(), record()));
    begun_ = true;
    return {};
  }

  Result<std::optional<ChangeCounts>> finish(const Step& step) override {
    bool has_earlier_layers = parts_.view.has_layers();
    fill(step);
    record().layers = PD_TRY_CTX("sealing what the command wrote",
                                 seal_uppers(parts_.view, record().step.number));
    if (record().layers == 0 && !has_earlier_layers) return remove();
    if (record().layers != 0) {
      LayerStack stack = PD_TRY(parts_.view.stack(0));
      PD_TRY_CTX("keeping the bases of what changed", capture_bases(stack));
    }
    record().sealed = true;
    model::ChangeSet changes =
        PD_TRY_CTX("comparing the view with its host", changes_of(parts_.view, LineCounts::skip));
    if (!has_earlier_layers && is_empty(changes)) return remove();
    sys::fault_point("view.finish.row");
    PD_TRY(write_rows());
    end();
    return std::optional(count_changes(changes));
  }

 private:
  StepRecord& record() { return parts_.view.steps.back(); }

  void fill(const Step& step) {
    uint32_t number = record().step.number;
    record().step = step;
    record().step.number = number;
    record().step.undone = false;
  }

  bool is_empty(const model::ChangeSet& changes) const {
    return changes.changes.empty() && changes.skipped.empty() &&
           parts_.view.only_refreshed_index(changes.git_paths);
  }

  Result<std::optional<ChangeCounts>> remove() {
    PD_TRY(remove_view(parts_.view.dirs, catalog_, id(), Rows::remove));
    end();
    return std::optional<ChangeCounts>();
  }

  void end() {
    finished_ = true;
    parts_.lock.reset();
    parts_.mask_use.reset();
  }

  Status write_rows() {
    uint64_t bytes = disk_use(parts_.view.dirs.root());
    auto write = [&]() -> Status {
      PD_TRY(catalog_.put_step(id(), record()));
      PD_TRY(catalog_.set_bytes(id(), bytes));
      return catalog_.set_state(id(), StoredState::ready);
    };
    return record().layers != 0 ? catalog_.durable_transaction(write)
                                : catalog_.database().transaction(write);
  }

  Status give_up() {
    KeptView& view = parts_.view;
    for (const model::OverlayTree& tree : parts_.trees) {
      if (!PD_TRY(is_unchanged(tree.upper->upper))) return {};
    }
    if (view.steps.size() == 1) return remove_view(view.dirs, catalog_, id(), Rows::remove);
    uint32_t number = record().step.number;
    PD_TRY(seal_uppers(view, number));
    return catalog_.database().transaction([&]() -> Status {
      PD_TRY(catalog_.remove_step(id(), number));
      return catalog_.set_state(id(), StoredState::ready);
    });
  }

  Catalog& catalog_;
  OpenedParts parts_;
  bool begun_ = false;
  bool finished_ = false;
  uint64_t measured_ = 0;
  int64_t measured_at_us_ = 0;
};

}  // namespace

std::unique_ptr<OpenView> make_open_view(Catalog& catalog, OpenedParts parts) {
  return std::make_unique<Opened>(catalog, std::move(parts));
}

Result<model::ChangeSet> changes_of(const KeptView& view, LineCounts lines) {
  LayerStack workspace = PD_TRY(view.stack(0));
  model::ChangeSet changes = PD_TRY(compute_changes(workspace, lines));
  for (size_t tree = 1; tree < view.tree_count(); ++tree) {
    LayerStack git = PD_TRY(view.stack(tree));
    if (git.layers.empty()) continue;
    model::ChangeSet set = PD_TRY(compute_changes(git, LineCounts::skip));
    for (const model::Change& change : set.changes) {
      changes.git_paths.push_back((git.host / change.path).str());
    }
  }
  return changes;
}

model::ChangeCounts count_changes(const model::ChangeSet& changes) {
  model::ChangeCounts counts;
  for (const model::Change& change : changes.changes) {
    counts.added += change.kind == model::ChangeKind::added;
    counts.modified += change.kind == model::ChangeKind::modified;
    counts.deleted += change.kind == model::ChangeKind::deleted;
    counts.renamed += change.kind == model::ChangeKind::renamed;
    counts.held += !change.held_reason.empty();
  }
  return counts;
}

}  // namespace paddock::view
