// The way back of a transaction.
#include <sys/stat.h>
#include <unistd.h>

#include "base/strings.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/rename.h"
#include "view/apply/apply_expect.h"
#include "view/apply/apply_slots.h"
#include "view/apply/apply_transaction.h"
#include "view/changes/change_stack.h"

namespace paddock::view {
namespace {

using model::FileType;

// What staging made, untouched since. A directory of ours that holds something is the host's as
// well.
Result<Match> is_ours(const sys::DirFd& dir, const std::string& name, const Expected& staged) {
  Match match = PD_TRY(matches(dir, name, staged));
  if (match == Match::no || staged.type != FileType::directory) return match;
  sys::DirFd opened = PD_TRY(sys::open_dir_at(dir, name));
  return PD_TRY(sys::list_dir(opened)).empty() ? Match::yes : Match::no;
}

}  // namespace

Status Transaction::backward() {
  for (auto op = journal_.ops.rbegin(); op != journal_.ops.rend(); ++op) {
    PD_TRY_CTX("undoing the change of " + printable(op->path), undo_op(*op));
    sys::fault_point("apply.op_undone");
  }
  return {};
}

Status Transaction::undo_op(const Op& op) {
  if (op.kind == OpKind::set_directory) {
    // A mismatch: the host has it otherwise by now, or not at all. That is its own business then.
    PD_TRY(set_directory(op, op.after, op.before));
    return {};
  }
  if (PD_TRY(slot_state(stage_, op)) == SlotState::not_done) return {};
  Result<sys::DirFd> parent = open_dir_in(host_, parent_of(op.path));
  if (!parent.ok()) return {};  // nowhere to put anything back to
  return op.kind == OpKind::remove ? put_back(op, *parent) : undo_arrival(op, *parent);
}

// Takes back what we put there, when it still is there and still is what we put there. Looked at
// before it is moved, so that a cut in between leaves nothing of the host's in a slot that looks
// unused.
Status Transaction::undo_arrival(const Op& op, const sys::DirFd& parent) {
  std::string name = name_of(op.path), slot = slot_name(op.slot);
  if (!PD_TRY(examine(parent, name)).exists()) {
    return op.kind == OpKind::exchange ? put_back(op, parent) : Status();
  }
  if (PD_TRY(is_ours(parent, name, op.staged)) == Match::no) return {};
  sys::fault_point("apply.undo_looked");
  if (op.kind == OpKind::create) return sys::rename_new({parent, name}, {stage_, slot});
  return sys::exchange({stage_, slot}, {parent, name});
}

Status Transaction::put_back(const Op& op, const sys::DirFd& parent) {
  std::string name = name_of(op.path), slot = slot_name(op.slot);
  Status moved = sys::rename_new({stage_, slot}, {parent, name});
  if (moved.ok() || moved.error().code() == Code::already_exists) return {};
  return moved;
}

Result<std::vector<Op>> Transaction::kept() const {
  std::vector<Op> kept;
  for (const Op& op : journal_.ops) {
    if (op.kind == OpKind::set_directory) continue;
    std::string slot = slot_name(op.slot);
    bool used = PD_TRY(examine(stage_, slot)).exists();
    bool ours = op.kind != OpKind::remove && PD_TRY(is_ours(stage_, slot, op.staged)) == Match::yes;
    if (used && !ours) kept.push_back(op);
  }
  return kept;
}

}  // namespace paddock::view
