// Limits of what a sandbox may ask of its gate at a time. The agent keeps them and answers what
// comes beyond by itself; for the host, an agent that does not keep them is hostile.
#pragma once

#include <cstddef>

namespace paddock::wire {

inline constexpr size_t kMaxQueries = 256;       // names unanswered
inline constexpr size_t kMaxConnections = 1024;  // asked for or open
inline constexpr size_t kMaxForwards = 1024;     // connections to ports inside, of the host's
inline constexpr size_t kMaxRedirected = 64;
inline constexpr size_t kMaxSockets = 32;      // of the host that are given
inline constexpr size_t kMaxAskedName = 1024;  // bytes; the longest name, escaped

// Where the agent listens for connections to sockets of the host, by their number. Links lead there
// from the paths that programs know.
inline constexpr const char* kSocketsInside = "/run/paddock/sockets";

}  // namespace paddock::wire
