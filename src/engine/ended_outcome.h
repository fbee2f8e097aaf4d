// The outcome of a command, as far as the agent's last word tells it.
#pragma once

#include <cstdint>
#include <string>

#include "model/outcome.h"
#include "model/settings.h"
#include "wire/agent.pb.h"

namespace paddock::engine {

// Memory that ran out in the sandbox while the command ran: the agent sees a SIGKILL only.
enum class OutOfMemory { no, yes };

// Words for endings that several parts tell.
void set_ending(model::Outcome& outcome, model::Ending ending, int code, std::string reason);
std::string memory_reason(const model::Limits& limits);
std::string timeout_reason(const model::Limits& limits);

void put_ending(model::Outcome& outcome, const wire::Ended& ended, const std::string& command,
                OutOfMemory memory, const model::Limits& limits);

// Of a command in a sandbox that lives on. `timeout_ms` was the command's own. Whether the kernel
// killed it for memory is not known here: it reads as signalled.
model::Outcome outcome_of(const wire::Ended& ended, const std::string& command,
                          const model::Limits& limits, uint64_t timeout_ms);

}  // namespace paddock::engine
