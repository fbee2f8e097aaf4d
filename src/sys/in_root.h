// Looking into a root directory as programs that live in it would.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

// openat2(2) with RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS: absolute symlinks and ".." stay below
// `root`, which is the root of what is resolved. `flags` as open(2); O_CLOEXEC is added.
Result<Fd> open_in_root(const DirFd& root, const std::string& path, int flags);

}  // namespace paddock::sys
