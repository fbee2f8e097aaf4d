// An agent that outlives the daemon: the words by which it is let go of, and taken over.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engine/agent_link.h"
#include "wire/agent.pb.h"

namespace paddock::engine {

// The sandbox is on record: from now on its agent outlives this process, until its deadline.
Status let_outlive(AgentLink& link);

struct Resumed {
  std::vector<wire::CommandState> commands;
  uint32_t last_command = 0;  // the highest number of a command so far
};
// Over a new stream. failed_precondition: it speaks another protocol; it was told nothing. Any
// other error: it does not answer as an agent does.
Result<Resumed> resume_agent(AgentLink& link);

}  // namespace paddock::engine
