// A leased container that another process started: what launch() would have had in its hands.
#pragma once

#include "base/result.h"
#include "isolation/backend.h"
#include "isolation/container/host_facts.h"
#include "isolation/container/launch.h"

namespace paddock::isolation::container {

// not_found: its agent is gone, or another process has its number. On error it goes on.
Result<Launched> take_over(const Adoption& adoption, const HostFacts& facts);

}  // namespace paddock::isolation::container
