// The first words with an agent, for who starts one only to see whether it can be (probes, tests).
// The engine has its own link, which goes on to run commands.
#pragma once

#include "base/result.h"
#include "isolation/backend.h"
#include "wire/agent.pb.h"

namespace paddock::isolation {

// Takes the agent's Hello, sends the sandbox's Setup and returns the Evidence. Blocks, at most
// about `timeout_ms`. failed_precondition: the agent is of another build.
Result<wire::Evidence> introduce(const Sandbox& sandbox, int timeout_ms);

}  // namespace paddock::isolation
