// New bases for what was applied while the view goes on.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "view/apply/apply_select.h"
#include "view/apply/apply_types.h"
#include "view/changes/change_compare.h"

namespace paddock::view {

// From now on the base of what was applied is what the view holds: it is a change no more, and what
// later commands make of it is compared with it. Writes these bases and returns the name they are
// parked under; empty: there are none. Bytes for later merges are kept only where something of the
// view stays unapplied, for then it goes on.
Result<std::string> park_rebase(const model::HostPath& bases, Comparison& comparison,
                                const std::vector<Selected>& selected,
                                const std::vector<Verdict>& verdicts);

}  // namespace paddock::view
