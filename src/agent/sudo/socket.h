// Where `sudo` and the agent meet; the protocol is in wire/sudo.proto.
#pragma once

#include <cstddef>

namespace paddock::agent::sudo {

inline constexpr const char* kSocketDirectory = "/run/paddock";
inline constexpr const char* kSocketPath = "/run/paddock/sudo";
inline constexpr size_t kMaxSudoRecord = 32u << 10;
inline constexpr size_t kMaxRequest = 2u << 20;  // as the kernel's own bound for exec

}  // namespace paddock::agent::sudo
