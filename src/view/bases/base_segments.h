// The names of base segments in their directory.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/paths.h"

namespace paddock::view {

// Oldest first. A missing directory has none.
Result<std::vector<std::string>> list_segments(const model::HostPath& dir);

// Renames `name`, a complete and synced segment of `dir`, behind the newest one and syncs `dir`.
Status number_segment(const model::HostPath& dir, const std::string& name);

}  // namespace paddock::view
