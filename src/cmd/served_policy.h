// The policy of the sandboxes that the daemon makes.
#pragma once

#include "cmd/context.h"
#include "cmd/invocation.h"
#include "engine/live/sandboxes.h"

namespace paddock::cmd {

// Clients that say nothing of the network expect one: where no policy says a word of egress, what
// package tools use may be reached. A bound of the administrator, or trust that gives none, holds.
// `workspace`: the directory of a sandbox that has one, whose word counts as in `run`.
Result<engine::LivePolicy> served_policy(const ServeArgs& args, const Context& context,
                                         const model::HostPath& workspace = {});

}  // namespace paddock::cmd
