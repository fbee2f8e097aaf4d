// [[egress.rule]] and [[credential]] of a policy file, and back to one line of text. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/egress.h"
#include "policy/raw_value.h"
#include "policy/tier.h"

namespace paddock::policy {

// Each rule carries where it is written and whether the administrator wrote it. The error says key
// and reason; the caller adds file and line. What a rule means is checked when it is compiled
// (egress/rules/policy.h), before anything starts.
Result<std::vector<model::EgressRule>> read_egress_rules(const RawMember& member, const Tier& tier);
Result<std::vector<model::Credential>> read_credentials(const RawMember& member, const Tier& tier);

// "allow api.example:443 https GET,HEAD /repos/**", for people. Never a secret: a credential is
// where its secret is kept and who may receive it.
std::string describe(const model::EgressRule& rule);
std::string describe(const model::Credential& credential);

}  // namespace paddock::policy
