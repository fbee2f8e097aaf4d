#include "view/apply/apply_complete.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "base/strings.h"
#include "sys/digest.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/random.h"
#include "sys/rename.h"
#include "view/apply/apply_slots.h"
#include "view/bases/base_store.h"
#include "view/changes/change_stack.h"

namespace paddock::view {
namespace {

Status end(const JournalDir& dir) {
  PD_TRY(dir.remove_journal());
  return dir.remove_leftovers();
}

// Renames the staging directory to a place where its owner finds it, with only what is his in it.
Result<model::HostPath> keep(const Journal& journal, const std::vector<Op>& ops) {
  sys::DirFd stage = PD_TRY(sys::open_dir(journal.stage.str()));
  std::set<std::string> kept;
  for (const Op& op : ops) kept.insert(slot_name(op.slot));
  for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(stage))) {
    if (kept.count(entry.name) == 0) PD_TRY(sys::remove_tree_at(stage, entry.name));
  }
  for (const Op& op : ops) {
    std::string slot = slot_name(op.slot), name = slot + "-" + name_of(op.path);
    PD_TRY(sys::rename_new({stage, slot}, {stage, name}));
  }
  // In the workspace the name begins with a dot, beside the journal it does not.
  std::string parent = journal.stage.str().substr(0, journal.stage.str().find_last_of('/'));
  bool hidden = name_of(journal.stage.str())[0] == '.';
  std::string name =
      (hidden ? ".paddock-kept-" : "kept-") + sys::sha256_hex(sys::random_bytes(16)).substr(0, 12);
  model::HostPath to(parent + "/" + name);
  if (::rename(journal.stage.c_str(), to.c_str()) == 0) return to;
  return Error::from_errno(errno, "keeping the host's earlier versions");
}

Result<Completion> undo(const JournalDir& dir, const Journal& journal, Transaction& transaction) {
  Completion completion;
  PD_TRY(transaction.backward());
  PD_TRY(transaction.sync());
  std::vector<Op> kept = PD_TRY(transaction.kept());
  if (!kept.empty()) completion.kept = PD_TRY(keep(journal, kept));
  PD_TRY(remove_parked(journal.bases, journal.rebase));
  sys::fault_point("apply.undone");
  PD_TRY(end(dir));
  return completion;
}

}  // namespace

Result<Completion> complete_apply(const JournalDir& dir, const Journal& journal) {
  Transaction transaction = PD_TRY(Transaction::open(journal));
  Result<std::optional<Mismatch>> done = std::optional<Mismatch>();
  if (!dir.has_abort()) {
    done = transaction.forward();
    if (done.ok() && !done->has_value()) {
      PD_TRY(transaction.sync());
      PD_TRY(publish_parked(journal.bases, journal.rebase));
      sys::fault_point("apply.done");
      PD_TRY(end(dir));
      return Completion();
    }
    PD_TRY(dir.mark_abort());
    sys::fault_point("apply.abort_marked");
  }
  Completion completion = PD_TRY(undo(dir, journal, transaction));
  if (!done.ok()) return std::move(done).error();
  completion.mismatch = std::move(*done);
  return completion;
}

Result<Recovery> recover_locked(const JournalDir& dir) {
  std::optional<Journal> journal = PD_TRY(dir.read());
  if (!journal) {
    PD_TRY(dir.remove_leftovers());
    return Recovery();
  }
  bool aborted = dir.has_abort();
  Completion completion = PD_TRY(complete_apply(dir, *journal));
  bool undone = aborted || completion.mismatch.has_value();
  return Recovery{undone ? Recovered::undone : Recovered::finished, journal->tag};
}

Result<Recovery> recover_apply(const model::HostPath& journal_dir) {
  if (!sys::exists(journal_dir.str())) return Recovery();
  JournalDir dir(journal_dir);
  sys::FileFd lock = PD_TRY(dir.lock());
  return recover_locked(dir).with_context("recovering an apply that was cut");
}

}  // namespace paddock::view
