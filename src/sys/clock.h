// Time.
#pragma once

#include <cstdint>

namespace paddock::sys {

int64_t wall_clock_ms();  // since the epoch
int64_t wall_clock_ns();
int64_t monotonic_us();  // CLOCK_MONOTONIC

}  // namespace paddock::sys
