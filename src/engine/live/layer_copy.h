// A copy of what a sandbox has written so far, while it stands still.
#pragma once

#include "base/result.h"
#include "model/paths.h"

namespace paddock::engine {

// Copies the uppers of one layer into the empty directory `to`: contents share blocks where the
// file system can; owners, modes, times, extended attributes (what overlayfs keeps there included),
// hard links, whiteouts and holes are kept; sockets are left out. Linear in the number of files.
// What is there is whole only when this succeeds. Blocks.
Status copy_layer(const model::HostPath& from, const model::HostPath& to);

}  // namespace paddock::engine
