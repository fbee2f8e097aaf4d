// What the sandbox looks like from inside, as facts for the host to compare with its decision.
#pragma once

#include <string_view>

#include "base/result.h"
#include "wire/agent.pb.h"

namespace paddock::agent {

// Reads the state of a probe child, which has what every command of the sandbox's user will have,
// of a second one as root where there is one, and of the agent itself. After confine(). The
// network's fields are the caller's.
Result<wire::Evidence> gather_evidence(const wire::Setup& setup);

// Fills the fields that /proc/<pid>/status shows. data_corrupt when one is missing. Pure.
Status parse_status(std::string_view status, wire::Evidence& evidence);

}  // namespace paddock::agent
