// What this host gives of the container level, proved by doing it.
#pragma once

#include <vector>

#include "isolation/backend.h"
#include "isolation/container/host_facts.h"

namespace paddock::isolation::container {

// Starts a whole container with the agent beside this program, over a view in a temporary
// directory, and holds the agent's evidence against the decision; then each control that may be
// missing without the level being so. Milliseconds; a second where a cgroup is slow.
std::vector<Probe> probe_host(Backend& backend, const HostFacts& facts);

}  // namespace paddock::isolation::container
