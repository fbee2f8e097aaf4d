#pragma once

#include <string>

#include "model/paths.h"

namespace paddock::view {

// Whether a symlink at `path` (relative to the workspace) with this target may lead out of the
// workspace, judged by its text alone. Targets in directories of the system, which users cannot
// write, do not count: a virtual environment links to its interpreter. A ".." after a name counts:
// where it leads depends on what the name is then.
bool leads_out(const std::string& path, const std::string& target,
               const model::HostPath& workspace);

}  // namespace paddock::view
