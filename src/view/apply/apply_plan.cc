#include "view/apply/apply_plan.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "sys/clock.h"
#include "sys/digest.h"
#include "sys/files.h"
#include "view/apply/apply_directories.h"
#include "view/apply/apply_expect.h"
#include "view/bases/base_keep.h"

namespace paddock::view {
namespace {

using model::FileType;

constexpr mode_t kSpecialBits = 07000;

class Planner {
 public:
  Planner(const Comparison& comparison, const std::vector<Selected>& selected,
          std::vector<Verdict>& verdicts)
      : comparison_(comparison), selected_(selected), verdicts_(verdicts) {}

  Result<Plan> run() {
    PD_TRY(settle_directories(comparison_, selected_, verdicts_));
    for (size_t i = deltas().size(); i-- > 0;) PD_TRY(plan_removal(i));
    for (size_t i = 0; i < deltas().size(); ++i) PD_TRY(plan_arrival(i));
    for (size_t i = deltas().size(); i-- > 0;) plan_last_state(i);
    PD_TRY(open_directories());
    Plan plan;
    size_t shift = unlocks_.size();
    plan.ops = std::move(unlocks_);
    plan.ops.insert(plan.ops.end(), ops_.begin(), ops_.end());
    plan.ops.insert(plan.ops.end(), locks_.begin(), locks_.end());
    for (StageTask task : tasks_) plan.tasks.push_back({task.op + shift, task.delta});
    return plan;
  }

 private:
  const std::vector<Delta>& deltas() const { return comparison_.deltas; }
  bool acts(size_t i) const {
    return selected_[i] != Selected::no && verdicts_[i].wanted.has_value();
  }

  // Where a directory gives way to something else or the other way round, the two cannot change
  // places: what is below them goes and comes in between.
  static bool needs_removal(const Object& host, const model::FileState& wanted) {
    if (!host.exists()) return false;
    if (wanted.type == FileType::absent) return true;
    return host.is(FileType::directory) != (wanted.type == FileType::directory);
  }

  Status plan_removal(size_t i) {
    if (!acts(i) || !needs_removal(deltas()[i].host, verdicts_[i].wanted->state)) return {};
    Op& op = add(OpKind::remove, i);
    op.expected = PD_TRY(expect(deltas()[i]));
    return {};
  }

  Status plan_arrival(size_t i) {
    if (!acts(i) || verdicts_[i].wanted->state.type == FileType::absent) return {};
    const Delta& delta = deltas()[i];
    const model::FileState& wanted = verdicts_[i].wanted->state;
    bool stays = delta.host.exists() && !needs_removal(delta.host, wanted);
    if (stays && wanted.type == FileType::directory) return {};  // plan_last_state
    tasks_.push_back({ops_.size(), i});
    Op& op = add(stays ? OpKind::exchange : OpKind::create, i);
    if (stays) op.expected = PD_TRY(expect(delta));
    if (wanted.type == FileType::directory) made_.insert(delta.path);
    return {};
  }

  // Modes and attributes of directories that stay, and modes of new ones that their owner may not
  // write: nothing could be put into them before.
  void plan_last_state(size_t i) {
    if (!acts(i) || verdicts_[i].wanted->state.type != FileType::directory) return;
    const Delta& delta = deltas()[i];
    const model::FileState& wanted = verdicts_[i].wanted->state;
    bool is_new = made_.count(delta.path) > 0;
    if (is_new && (wanted.mode & 0700) == 0700) return;
    mode_t special = is_new ? 0 : delta.host.state.mode & kSpecialBits;
    Op op;
    op.kind = OpKind::set_directory;
    op.path = delta.path;
    op.after = {(wanted.mode & 0777) | special, wanted.xattrs};
    op.before = is_new ? DirectoryState{op.after.mode | 0700, wanted.xattrs}
                       : DirectoryState{delta.host.state.mode, delta.host.state.xattrs};
    locks_.push_back(std::move(op));
  }

  // Directories whose owner took the right to write from himself are given it for the while, as the
  // sandbox did.
  Status open_directories() {
    if (::geteuid() == 0) return {};
    std::set<std::string> parents;
    for (const Op& op : ops_) {
      std::string parent = parent_of(op.path);
      if (made_.count(parent) == 0) parents.insert(parent);
      // Moving a directory writes its "..".
      if (op.expected.type == FileType::directory) parents.insert(op.path);
    }
    for (const std::string& path : parents) {
      sys::DirFd dir = PD_TRY(open_dir_in(comparison_.stack.host(), path));
      Object object = PD_TRY(examine_open(dir));
      bool writable = (object.state.mode & 0300) == 0300;
      if (writable || object.uid != ::geteuid()) continue;
      if (PD_TRY(was_open_inside(path))) {
        return Error(Code::permission_denied,
                     fmt::format("the host closed directory {} to writing meanwhile",
                                 printable(path.empty() ? "." : path)))
            .set_remedy("chmod u+wx it, or apply other paths by name");
      }
      unlock(path, {object.state.mode, object.state.xattrs});
    }
    return {};
  }

  // The sandbox wrote there without having to open it: the host has closed it since.
  Result<bool> was_open_inside(const std::string& path) const {
    bool opened_by_sandbox = std::any_of(locks_.begin(), locks_.end(),
                                         [&](const Op& lock) { return lock.path == path; });
    if (opened_by_sandbox) return false;
    const OpenStack& stack = comparison_.stack;
    for (size_t i = 0; i < stack.layer_count(); ++i) {
      Result<sys::DirFd> dir = open_dir_in(stack.layer(i), path);
      if (!dir.ok()) continue;
      Object object = PD_TRY(examine_open(*dir));
      return (stack.mode_of(object.ino, object.state.mode) & 0300) == 0300;
    }
    return false;
  }

  void unlock(const std::string& path, const DirectoryState& now) {
    Op op;
    op.kind = OpKind::set_directory;
    op.path = path;
    op.before = now;
    op.after = {now.mode | 0700, now.xattrs};
    auto last = std::find_if(locks_.begin(), locks_.end(),
                             [&](const Op& lock) { return lock.path == path; });
    if (last != locks_.end()) {
      last->before = op.after;
    } else if (!goes(path)) {
      Op back = op;
      std::swap(back.before, back.after);
      locks_.push_back(std::move(back));
    }
    unlocks_.push_back(std::move(op));
  }

  bool goes(const std::string& path) const {
    return std::any_of(ops_.begin(), ops_.end(),
                       [&](const Op& op) { return op.kind == OpKind::remove && op.path == path; });
  }

  Op& add(OpKind kind, size_t i) {
    Op op;
    op.kind = kind;
    op.path = deltas()[i].path;
    op.slot = next_slot_++;
    return ops_.emplace_back(std::move(op));
  }

  // A version that was written a moment ago may have a successor with the same times: its bytes are
  // compared as well.
  Result<Expected> expect(const Delta& delta) const {
    Expected expected = expected_of(delta.host);
    if (!delta.host.is(FileType::regular) || !may_share_times(delta.host) || !delta.host.readable) {
      return expected;
    }
    sys::FileFd fd = PD_TRY(open_regular(comparison_.stack.host(), delta.path));
    expected.digest = PD_TRY(sys::sha256_hex(fd));
    bool known = !delta.host.state.digest.empty();
    if (known && expected.digest != delta.host.state.digest) {
      return Error(Code::conflict, fmt::format("{} is being written", printable(delta.path)));
    }
    return expected;
  }

  const Comparison& comparison_;
  const std::vector<Selected>& selected_;
  std::vector<Verdict>& verdicts_;
  std::vector<Op> unlocks_, ops_, locks_;
  std::vector<StageTask> tasks_;
  std::set<std::string> made_;
  uint64_t next_slot_ = 0;
};

}  // namespace

Result<Plan> plan_apply(const Comparison& comparison, const std::vector<Selected>& selected,
                        std::vector<Verdict>& verdicts) {
  return Planner(comparison, selected, verdicts).run();
}

}  // namespace paddock::view
