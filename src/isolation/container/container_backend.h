// The level `container`: namespaces, overlays, cgroups, seccomp and Landlock of a shared kernel.
#pragma once

#include <memory>

#include "isolation/backend.h"

namespace paddock::isolation::container {

// Reads the host's facts once. Thread-safe; start() of a bound sandbox must be called from a thread
// that outlives it (the kernel's parent-death signal is the thread's).
std::unique_ptr<Backend> make_container_backend();

}  // namespace paddock::isolation::container
