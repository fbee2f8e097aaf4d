// Advisory locks (flock(2)) on files that may be removed while somebody waits for them.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

enum class LockMode { exclusive, shared };
enum class LockWait { no, yes };

// Locks `path`, created 0600 when absent. The lock is the descriptor's: held while it lives, and by
// every process that inherits it. On return `path` still names the locked file: a holder that
// removed it while we waited does not leave us with a lock that nobody else can see.
// failed_precondition: somebody else holds it (only with LockWait::no). not_found: its directory is
// gone.
Result<FileFd> lock_path(const std::string& path, LockMode mode, LockWait wait);

}  // namespace paddock::sys
