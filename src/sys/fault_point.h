// Named places between two effects on disk where a test ends the process, to see what a kill at
// that instruction leaves. Without a hook a point costs one load.
#pragma once

#include <atomic>

namespace paddock::sys {

using FaultHook = void (*)(const char* name);

namespace detail {
extern std::atomic<FaultHook> fault_hook;
}

inline void fault_point(const char* name) {
  if (FaultHook hook = detail::fault_hook.load(std::memory_order_relaxed)) hook(name);
}

// For tests. nullptr takes it away.
void set_fault_hook(FaultHook hook);

}  // namespace paddock::sys
