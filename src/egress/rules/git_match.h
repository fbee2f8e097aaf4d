// The git conditions of one rule against one operation.
#pragma once

#include "egress/git/operation.h"
#include "model/egress.h"

namespace paddock::egress {

// `held`: a push that the rule wants reviewed first.
enum class GitMeaning { met, not_met, held, needs_refs };

GitMeaning git_meaning(const model::GitConditions& conditions, const GitOperation& operation,
                       model::EgressAction action);

}  // namespace paddock::egress
