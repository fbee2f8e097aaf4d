// Programs inside trust the authority by which the gate opens TLS.
#pragma once

#include "base/result.h"
#include "engine/network.h"
#include "engine/run_plan.h"

namespace paddock::engine {

// By the system's bundle and the stores of Javas, where the root has them, and by the variables
// that programs look for a bundle with. `plan.sandbox.state_dir` keeps the bundle.
Status add_trust(Network& network, RunPlan& plan);
// And the gate itself, where it is the ssh server of a host.
Status add_ssh_trust(egress::Gate& gate, RunPlan& plan);

}  // namespace paddock::engine
