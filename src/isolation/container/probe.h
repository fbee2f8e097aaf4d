// What this host gives of the container level, proved by doing it.
#pragma once

#include <vector>

#include "isolation/backend.h"
#include "isolation/container/host_facts.h"

namespace paddock::isolation::container {

std::vector<Probe> probe_host(const HostFacts& facts);

}  // namespace paddock::isolation::container
