// New git objects of a view, carried into a scratch repository.
#pragma once

#include <vector>

#include "base/result.h"
#include "model/paths.h"
#include "view/git/git_scratch.h"

namespace paddock::view {

// Copies loose objects and packs from `objects/` of each layer. Only regular files with an object's
// or a pack's name are read, none through a symlink; alternates, grafts and whatever else lies
// there is left. Packs are indexed anew. What they hold is checked later, on the way into the host.
// resource_exhausted past a bound on bytes and files.
Status gather_objects(const std::vector<model::HostPath>& layers, const ScratchRepository& scratch);

}  // namespace paddock::view
