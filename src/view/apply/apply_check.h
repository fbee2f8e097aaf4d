// The three-way check of one path: base, view and the host as it is now.
#pragma once

#include "base/result.h"
#include "view/apply/apply_merge.h"
#include "view/apply/apply_types.h"
#include "view/changes/change_compare.h"

namespace paddock::view {

// Fills in digests of `delta` where they decide. Held-back deltas are not the check's business.
Result<Verdict> check_delta(const Comparison& comparison, Delta& delta, TextMerger& merger);

}  // namespace paddock::view
