// How much of a push the gate takes in before it has decided.
#pragma once

#include <cstddef>

namespace paddock::egress {

inline constexpr size_t kMaxCommands = 320 * 1024;  // the refs that a push changes
inline constexpr size_t kMaxDrained = 64u << 20;    // the rest of a push that is refused

}  // namespace paddock::egress
