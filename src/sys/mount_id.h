// Which mount an open object was reached through.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

// statx(2) STATX_MNT_ID, Linux 5.8. Two objects can be renamed to each other's directory only when
// theirs are equal, even on one file system.
Result<uint64_t> mount_id(const Fd& fd);

}  // namespace paddock::sys
