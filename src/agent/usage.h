// What the sandbox has used so far, counted from inside.
#pragma once

#include <sys/types.h>

#include <functional>

#include "wire/agent.pb.h"

namespace paddock::agent {

// Of the calling process and all below it; a guest's kernel threads are not. Processes that
// `is_supervisor` names are not counted, their time is.
wire::Usage measure_usage(const std::function<bool(pid_t)>& is_supervisor);

}  // namespace paddock::agent
