// The file of --outcome.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::cmd {

// Opened before anything runs: a place that cannot be written is refused while nothing has
// happened. Without a path, a descriptor that is not open.
Result<sys::FileFd> open_outcome(const std::string& path);

}  // namespace paddock::cmd
