// Which control of the container level holds on this host, and how. One function per control; the
// decision is made of their results.
#pragma once

#include <vector>

#include "isolation/backend.h"
#include "isolation/container/host_facts.h"
#include "model/decision.h"

namespace paddock::isolation::container {

std::vector<model::Control> decide_controls(const SandboxPlan& plan, const HostFacts& facts);

// Bytes that the scratch tmpfs may hold: it is memory, so never more than the memory limit.
uint64_t scratch_bytes(const model::Limits& limits);
uint64_t shm_bytes(const model::Limits& limits);

}  // namespace paddock::isolation::container
