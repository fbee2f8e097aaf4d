// Whether what came out of the host tree is what was there when it was checked.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/fd.h"
#include "view/apply/apply_types.h"
#include "view/changes/change_object.h"

namespace paddock::view {

Expected expected_of(const Object& object);

enum class Match { yes, no };

// Compares `name` in `dir` with what is expected there: type, inode, and but for directories, whose
// times tell of their entries, size, modification time and mode; of a link its target; and the
// bytes where a digest is given. Absent is no match.
Result<Match> matches(const sys::DirFd& dir, const std::string& name, const Expected& expected);

}  // namespace paddock::view
