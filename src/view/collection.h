// Which views a garbage collection removes. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "model/settings.h"
#include "view/workspace.h"

namespace paddock::view {

// Applied and discarded views; then unapplied ones older than rules.keep_seconds; then, oldest
// first, as many as it takes to come below rules.keep_bytes. Never one that runs. Oldest first.
std::vector<ViewInfo> choose_garbage(std::vector<ViewInfo> views, const model::ViewRules& rules,
                                     int64_t now_ms);

}  // namespace paddock::view
