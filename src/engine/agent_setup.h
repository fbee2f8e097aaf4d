// The first words with an agent: who it is, what it confines itself by, what it then finds.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "engine/agent_link.h"
#include "isolation/backend.h"

namespace paddock::engine {

// The agent's own deadline lies this far behind ours: it is for the time when we are not there.
inline constexpr uint64_t kAgentSlackMs = 10'000;

struct AgentSetup {
  uint64_t deadline_ms = 0;            // from now; 0: none
  std::optional<wire::Egress> egress;  // nullopt: nothing leaves
  uint32_t sockets = 0;                // of the host that are given
};

// Introductions, confinement, and the agent's own report of what holds. Nothing of the caller's has
// run when this returns. failed_precondition: the agent is of another build, or what it found is
// not what was decided.
Status set_up_agent(const isolation::Sandbox& sandbox, AgentLink& link, AgentSetup setup);

}  // namespace paddock::engine
