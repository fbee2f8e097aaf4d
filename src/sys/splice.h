// Moving bytes between descriptors inside the kernel.
#pragma once

#include <cstddef>
#include <optional>

#include "base/result.h"

namespace paddock::sys {

// splice(2), one of the two a pipe: at most `size` bytes, without waiting. 0: the source has ended.
// nullopt: nothing can be moved now. To a socket whose peer is gone it raises SIGPIPE, which the
// calling thread must block or ignore.
Result<std::optional<size_t>> splice_bytes(int from, int to, size_t size);

}  // namespace paddock::sys
