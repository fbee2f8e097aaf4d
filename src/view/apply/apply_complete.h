// The second half of an apply: from a committed journal to an empty journal directory.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "view/apply/apply_journal.h"
#include "view/apply/apply_transaction.h"
#include "view/changes.h"

namespace paddock::view {

struct Completion {
  std::optional<Mismatch> mismatch;  // then all was undone
  model::HostPath kept;              // where versions are that could not be put back; empty: none
};

// Finishes what the journal says, or undoes it when the host does not match or an abort was marked.
// An error after everything was undone is the one that stopped it. When undoing fails as well, the
// journal stays for the next attempt.
Result<Completion> complete_apply(const JournalDir& dir, const Journal& journal);

// recover_apply() for who holds the lock.
Result<Recovery> recover_locked(const JournalDir& dir);

}  // namespace paddock::view
