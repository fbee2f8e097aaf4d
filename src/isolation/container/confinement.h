// What each command of a container is confined by beside namespaces and seccomp: Landlock rules and
// resource limits, as data for the agent.
#pragma once

#include "isolation/backend.h"
#include "isolation/container/host_facts.h"
#include "wire/agent.pb.h"

namespace paddock::isolation::container {

void add_landlock_rules(const SandboxPlan& plan, wire::Start& start);
void add_resource_limits(const SandboxPlan& plan, const HostFacts& facts, wire::Start& start);

// RLIMIT_NOFILE of a command: what the plan says, within the hard limit that we were started with.
uint64_t allowed_open_files(const model::Limits& limits);

// Whole processors for a fraction of them, where only affinity can limit.
unsigned allowed_cpus(const model::Limits& limits, unsigned available);

}  // namespace paddock::isolation::container
