// What the directories of the host say to an apply.
#pragma once

#include <vector>

#include "base/result.h"
#include "view/apply/apply_select.h"
#include "view/apply/apply_types.h"
#include "view/changes/change_compare.h"

namespace paddock::view {

// The part of plan_apply() that looks at the host's directories and changes verdicts.
Status settle_directories(const Comparison& comparison, const std::vector<Selected>& selected,
                          std::vector<Verdict>& verdicts);

}  // namespace paddock::view
