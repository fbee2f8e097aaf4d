// Paths of the host that somebody trusted has named, and that no project may bend.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/paths.h"

namespace paddock::engine {

// `path` with its symlinks resolved, that of the last component too. permission_denied: it leads
// into or through one of `untrusted`, trees whose content is not the caller's word; a link in them
// could lead anywhere. They are known by their resolved paths, and by what they are: a bind mount
// of one is the same.
Result<model::HostPath> resolve_outside(const std::string& path,
                                        const std::vector<model::HostPath>& untrusted);

}  // namespace paddock::engine
