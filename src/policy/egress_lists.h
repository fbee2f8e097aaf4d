// The lists of rules that a sandbox's gate is given. Pure.
#pragma once

#include <vector>

#include "base/result.h"
#include "model/egress.h"
#include "model/settings.h"

namespace paddock::policy {

// `of_presets`: what the presets in force stand for on this host. In the first list the project's
// refusals come first, then the administrator's rules, hosts allowed by name, the user's rules and
// the presets. Where a project grants, a second list holds names, presets and the project's rules,
// and both must allow. invalid_argument: an entry of egress.allow that is none.
Result<model::EgressPolicy> egress_lists(const model::EgressSettings& settings,
                                         const std::vector<model::EgressRule>& of_presets);

}  // namespace paddock::policy
