// Capability sets of the calling thread. Async-signal-safe: usable between clone and exec.
#pragma once

#include <cstdint>

namespace paddock::sys {

constexpr uint64_t capability_bit(int capability) {
  return uint64_t{1} << capability;
}

// Reduces every set to `keep`: bounding (needs CAP_SETPCAP), permitted, effective, inheritable and
// ambient, so that a program executed next holds exactly `keep`, whatever its uid. -1 and errno on
// failure. Linux 4.3 and newer.
int limit_capabilities(uint64_t keep);

// The capabilities that this thread holds effectively; 0 when they cannot be read.
uint64_t effective_capabilities();

}  // namespace paddock::sys
