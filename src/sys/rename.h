// renameat2(2): the two renames that never replace anything unseen.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

// A name in an open directory. `dir` outlives the call.
struct DirName {
  const DirFd& dir;
  const std::string& name;
};

// Fails with already_exists when `to` does (RENAME_NOREPLACE).
Status rename_new(DirName from, DirName to);

// Both exist and change places (RENAME_EXCHANGE); not_found when one does not.
Status exchange(DirName a, DirName b);

// Both: unsupported where the file system has no such rename or the two are on different mounts.

// Writes out everything of the file system that holds `fd` (syncfs(2)).
Status sync_file_system(const Fd& fd);

}  // namespace paddock::sys
