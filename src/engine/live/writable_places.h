// Where a live sandbox writes, and where on disk that is kept.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "isolation/backend.h"
#include "model/paths.h"

namespace paddock::engine {

// Gives every place of the plan that can be written to an upper in the first of `layers` (their
// directories, top first), over what the others hold of that place, over the template's own: the
// trees of its root, the home, /tmp and /var/tmp. Makes directories that are missing; what is there
// from an earlier start is gone on with, and only its work directories are made anew. A new layer
// gets a machine id of its own. `below`: where the empty directories are that those without a tree
// of the template's lie over. Blocks.
Status keep_writes(isolation::SandboxPlan& plan, const model::HostPath& below,
                   const std::vector<model::HostPath>& layers);

// A UUID as the kernel makes them for a boot.
std::string new_boot_id();

// A path inside as the name of its directory in a layer. Pure.
std::string place_name(const model::GuestPath& at);

}  // namespace paddock::engine
