// Capabilities of the calling thread, by system call (capset(2), prctl(2)).
#pragma once

#include "base/result.h"

namespace paddock::sys {

// Drops every capability from the bounding set. permission_denied without CAP_SETPCAP, unless the
// set is empty already.
Status clear_bounding_set();

// Clears the effective, permitted, inheritable and ambient sets. Always allowed.
Status drop_capabilities();

}  // namespace paddock::sys
