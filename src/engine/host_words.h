// What was said of hosts while a sandbox runs: allowed, or denied. Pure.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "egress/rules/policy.h"
#include "engine/change_request.h"
#include "model/egress.h"

namespace paddock::engine {

// By "HOST[:PORT]", as it was said: a word takes back the other one with the same text.
using HostWords = std::map<std::string, ChangeVerb>;

// resource_exhausted: so many were said that `host` is one too many. All are compiled each time.
Status check_room(const HostWords& words, const std::string& host);

// What --allow takes, as a rule that lets it through. invalid_argument: it is no host.
Result<model::EgressRule> allowance_of(const std::string& host);
// A rule that refuses it: every port, unless one is named.
Result<model::EgressRule> denial_of(const std::string& host);

// permission_denied: another rule goes on refusing what the allowance lets through.
Status check_effect(const egress::Policy& policy, const model::EgressRule& allowance);

}  // namespace paddock::engine
