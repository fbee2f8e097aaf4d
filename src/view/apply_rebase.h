// New bases for what was applied while the view goes on.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "view/apply_select.h"
#include "view/apply_types.h"
#include "view/change_compare.h"

namespace paddock::view {

// When something of the view stays unapplied, later commands may change further what is applied
// now: from then on the base is what the view holds now. Writes it beside the bases and returns the
// name it is parked under; empty: everything is applied, and nothing of the view is left to change.
Result<std::string> park_rebase(const model::HostPath& bases, Comparison& comparison,
                                const std::vector<Selected>& selected,
                                const std::vector<Verdict>& verdicts);

}  // namespace paddock::view
