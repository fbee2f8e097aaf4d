// Sending a held push on, after somebody has looked at it.
#pragma once

#include "egress/gate.h"
#include "egress/gate/core.h"

namespace paddock::egress {

// See Gate::release.
Result<ReleasedPush> release_push(net::Task& task, Core& core, const SandboxRules& rules,
                                  const std::string& id);

}  // namespace paddock::egress
