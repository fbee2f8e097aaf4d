// Runs a mount program in the calling process, which must be alone in a new mount namespace and
// hold CAP_SYS_ADMIN over it. Async-signal-safe: between clone and exec, no allocation.
#pragma once

#include <cstdint>

#include "isolation/container/mount_program.h"

namespace paddock::isolation::container {

// error 0: done, the working directory is `/`, and `scratch` is a descriptor of the scratch tmpfs,
// which has no path any more. Else the errno of `step`, an index into the program.
struct MountRunResult {
  uint32_t step = 0;
  int error = 0;
  int scratch = -1;
};

MountRunResult run_mount_program(const MountProgram& program);

}  // namespace paddock::isolation::container
