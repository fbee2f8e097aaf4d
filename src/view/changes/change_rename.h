// Pairs deleted files with added ones of the same bytes.
#pragma once

#include <vector>

#include "base/result.h"
#include "view/changes/change_compare.h"

namespace paddock::view {

inline constexpr size_t kNotRenamed = static_cast<size_t>(-1);

// For each delta the index of the deleted one that it is the new name of, or kNotRenamed. Only
// regular, non-empty files that are not held back; digests are read for equal sizes only, and noted
// in the deltas.
Result<std::vector<size_t>> find_renames(Comparison& comparison);

}  // namespace paddock::view
