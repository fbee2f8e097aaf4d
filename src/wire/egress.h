// Limits of what a sandbox may ask of its gate at a time. The agent keeps them and answers what
// comes beyond by itself; for the host, an agent that does not keep them is hostile.
#pragma once

#include <cstddef>

namespace paddock::wire {

inline constexpr size_t kMaxQueries = 256;       // names unanswered
inline constexpr size_t kMaxConnections = 1024;  // asked for or open
inline constexpr size_t kMaxForwards = 1024;     // connections to ports inside, of the host's
inline constexpr size_t kMaxRedirected = 64;
inline constexpr size_t kMaxAskedName = 1024;  // bytes; the longest name, escaped

}  // namespace paddock::wire
