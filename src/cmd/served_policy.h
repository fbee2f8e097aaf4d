// The policy of the sandboxes that the daemon makes.
#pragma once

#include "cmd/context.h"
#include "cmd/invocation.h"
#include "engine/live/sandboxes.h"

namespace paddock::cmd {

struct ServedPolicy {
  policy::Compiled compiled;
  engine::EgressWord egress = engine::EgressWord::of_policy;
};

// Clients that say nothing of the network expect one: where no policy says a word of egress, what
// package tools use may be reached. A bound of the administrator, or trust that gives none, holds.
Result<ServedPolicy> served_policy(const ServeArgs& args, Context& context);

}  // namespace paddock::cmd
