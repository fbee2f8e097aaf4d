// Transport: the agent as /init of Debian's cloud kernel in an emulated machine, over
// virtio-serial.
#pragma once

#include "agent/testing/transport.h"

namespace paddock::agent::testing {

// unsupported: no QEMU, cloud kernel or busybox here.
Result<std::unique_ptr<RunningAgent>> start_in_guest();
wire::Setup setup_in_guest();

}  // namespace paddock::agent::testing
