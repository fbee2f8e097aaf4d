// From verdicts to the ops that carry them out.
#pragma once

#include <vector>

#include "base/result.h"
#include "view/apply/apply_select.h"
#include "view/apply/apply_types.h"
#include "view/changes/change_compare.h"

namespace paddock::view {

// What staging puts into the slot of ops[op].
struct StageTask {
  size_t op = 0;
  size_t delta = 0;  // whose verdict holds what is wanted
};

struct Plan {
  std::vector<Op> ops;
  std::vector<StageTask> tasks;
};

// Looks at the host again where directories decide: one that would go but holds more than the view
// saw stays (merged, or held with what is held in it), or is a conflict where something else takes
// its place; what is to be made needs its directory. Such findings change `verdicts`. The plan is
// complete when none of them is a conflict.
//
// Order: directories are opened for writing, what goes goes from the deepest up, what comes comes
// from the top down, directories get their last modes from the deepest up.
Result<Plan> plan_apply(const Comparison& comparison, const std::vector<Selected>& selected,
                        std::vector<Verdict>& verdicts);

}  // namespace paddock::view
