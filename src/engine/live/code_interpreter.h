// Template `code-interpreter-v1`: `base`, and a program of ours that runs code in contexts, over
// HTTP on a port inside (share/code_interpreter/server.py). It is a command like any other of the
// sandbox's.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/live/process.h"
#include "engine/run_plan.h"

namespace paddock::engine {

inline constexpr const char* kCodeInterpreter = "code-interpreter-v1";
inline constexpr uint16_t kCodeInterpreterPort = 49999;

// Shows the program inside. unsupported: this machine or root lacks what it is made of; the remedy
// says what to install. `share`: Parts::share.
Status add_code_interpreter(const model::HostPath& share, RunPlan& plan);
ProcessRequest code_interpreter_command();

}  // namespace paddock::engine
