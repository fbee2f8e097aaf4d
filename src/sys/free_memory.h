// How much memory this machine has, and how much of it could be given to a program.
#pragma once

#include <cstdint>

namespace paddock::sys {

struct FreeMemory {
  uint64_t total_bytes = 0;
  uint64_t available_bytes = 0;  // without swapping
};

// Zeros where /proc/meminfo cannot be read.
FreeMemory free_memory();

}  // namespace paddock::sys
