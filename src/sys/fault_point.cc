#include "sys/fault_point.h"

namespace paddock::sys {

namespace detail {
constinit std::atomic<FaultHook> fault_hook{nullptr};
}

void set_fault_hook(FaultHook hook) {
  detail::fault_hook.store(hook);
}

}  // namespace paddock::sys
