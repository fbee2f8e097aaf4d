// Transport: the agent as first process of fresh namespaces, over a unix socket.
#pragma once

#include <sys/types.h>

#include "agent/testing/transport.h"

namespace paddock::agent::testing {

enum class Mapping {
  single_id,  // an ordinary user without subordinate ids: one id, setgroups denied
  id_range,   // started by root: a private range, root inside
};

Result<std::unique_ptr<RunningAgent>> start_in_namespaces(Mapping mapping);
// The same; `*exec_ns` becomes CLOCK_MONOTONIC right before the agent was executed. It must lie in
// memory that is shared with children.
Result<std::unique_ptr<RunningAgent>> start_in_namespaces(Mapping mapping, int64_t* exec_ns);
wire::Setup setup_in_namespaces(Mapping mapping);

}  // namespace paddock::agent::testing
