// Which build host and agent are of, and which protocol they speak. A sandbox is started with an
// agent of the host's own build. One that outlives its host may meet a host of another build, which
// speaks with it where both have the same protocol: there are no versions to negotiate.
#pragma once

#include <string_view>

namespace paddock::wire {

// 32 hex digits: a hash over the sources that make the agent (cmake/build_id.cmake).
std::string_view build_id();

// 32 hex digits: a hash over the protocol's definition (agent.proto, files.proto, frame.h).
std::string_view protocol_id();

}  // namespace paddock::wire
