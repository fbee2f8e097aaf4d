// Turns what the relay saw into the outcome of the command.
#pragma once

#include "engine/relay.h"
#include "isolation/backend.h"
#include "model/outcome.h"
#include "model/settings.h"

namespace paddock::engine {

model::Outcome outcome_of(const RelayResult& result, isolation::Sandbox& sandbox,
                          const model::Limits& limits, uint64_t wall_us);

}  // namespace paddock::engine
