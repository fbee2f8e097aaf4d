// What is kept with a command, at its agent, for the daemon that takes its sandbox over. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/live/process.h"

namespace paddock::engine {

// At most wire::kMaxNote bytes: of a request that is longer first the environment is left out, then
// arguments, the last ones first.
std::string note_of(const ProcessRequest& request);
// It comes from inside: data_corrupt when it is none, and any text otherwise.
Result<ProcessRequest> request_of(std::string_view note);

}  // namespace paddock::engine
