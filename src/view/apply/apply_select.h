// Which deltas an apply acts on.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "view/changes/change_compare.h"
#include "view/workspace.h"

namespace paddock::view {

// Whether the caller asked for it, or it is a directory that something asked for needs.
enum class Selected { no, needed, yes };

// One entry per delta. `paths` as the caller wrote them: what they name and all below; empty: all.
// invalid_argument when one leaves the workspace, not_found when nothing changed at or below it.
Result<std::vector<Selected>> select_deltas(const std::vector<Delta>& deltas,
                                            const std::vector<std::string>& paths);

// The deltas strictly below a path: indices first…last-1.
struct Below {
  size_t first = 0;
  size_t last = 0;
};
Below deltas_below(const std::vector<Delta>& deltas, const std::string& top);

// Settles what stays held back under the caller's choice: host_exec holds end when it is allowed,
// and a directory that would become something else holds all that is below it when any of that is
// held.
void settle_holds(std::vector<Delta>& deltas, HostExec host_exec);

}  // namespace paddock::view
