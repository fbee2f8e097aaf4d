// What an apply leaves on disk for whoever comes after it, in one directory per workspace:
//   lock      held by the process that applies or recovers
//   intent    where this apply makes things outside of here, written before it does
//   stage/    the staging directory, when this directory is on the workspace's file system
//   merge/    scratch of text merges
//   journal   the ops; it being there is the commit point
//   abort     beside a journal: what is done is being undone
//   kept-*/   versions of the host's files that could not be put back, for their owner
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/paths.h"
#include "sys/fd.h"
#include "view/apply/apply_types.h"

namespace paddock::view {

struct Intent {
  model::HostPath bases;  // where new bases are parked
  model::HostPath stage;  // the staging directory, when it has to be in the workspace; else empty
};

std::string encode_journal(const Journal& journal);
Result<Journal> decode_journal(const std::string& sealed);

// Every write is synced before it returns. The caller holds the lock.
class JournalDir {
 public:
  explicit JournalDir(model::HostPath dir) : dir_(std::move(dir)) {}

  const model::HostPath& path() const { return dir_; }
  model::HostPath stage() const { return dir_ / "stage"; }
  model::HostPath merge_scratch() const { return dir_ / "merge"; }

  // Without the lock: an apply is under way here, or ended before its time.
  bool was_cut() const;

  // Makes the directory and takes its lock; failed_precondition when another process has it.
  Result<sys::FileFd> lock() const;

  Status write_intent(const Intent& intent) const;

  Status commit(const Journal& journal) const;
  // nullopt: nothing was committed. data_corrupt: somebody wrote to it.
  Result<std::optional<Journal>> read() const;

  Status mark_abort() const;
  bool has_abort() const;

  // Ends the transaction: from now on nothing is to finish or undo.
  Status remove_journal() const;
  // Afterwards only the lock file is left here, and what is kept.
  Status remove_leftovers() const;

 private:
  Status sync() const;
  Result<std::optional<Intent>> read_intent() const;

  model::HostPath dir_;
};

}  // namespace paddock::view
