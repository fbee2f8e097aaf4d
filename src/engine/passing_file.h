// Files that a sandbox is shown and that are made anew each time it starts.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/paths.h"

namespace paddock::engine {

// In place of what an earlier start left. Readable by everybody, and not brought to the disk: after
// a crash of the machine nobody asks for it.
Status write_passing_file(const model::HostPath& path, std::string_view bytes);

}  // namespace paddock::engine
