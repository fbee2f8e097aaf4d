// Which views a garbage collection removes. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "model/settings.h"
#include "view/workspace.h"

namespace paddock::view {

struct Candidate {
  ViewInfo info;
  int64_t used_ms = 0;   // when its last command began, or it was made
  bool is_done = false;  // nothing would be missed: discarded, or applied and without commits
};

// Views that are done; then those not used for rules.keep_seconds; then, longest unused first, as
// many as it takes to come below rules.keep_bytes. Never one that runs. Longest unused first.
std::vector<ViewInfo> choose_garbage(std::vector<Candidate> views, const model::ViewRules& rules,
                                     int64_t now_ms);

}  // namespace paddock::view
