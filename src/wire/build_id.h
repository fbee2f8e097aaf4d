// Which build host and agent are of. They must be the same: the protocol has no versions to
// negotiate.
#pragma once

#include <string_view>

namespace paddock::wire {

// 32 hex digits: a hash over the sources that make the agent (cmake/build_id.cmake).
std::string_view build_id();

}  // namespace paddock::wire
