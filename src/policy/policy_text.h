// One policy file, read and checked against the settings table, before it meets other tiers. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/egress.h"
#include "policy/setting.h"
#include "policy/tier.h"

namespace paddock::policy {

struct Assignment {
  const Setting* setting = nullptr;  // of settings_table.cc, never null
  Value value;
  uint32_t line = 0;
};

struct PolicyText {
  std::vector<Assignment> values;
  std::vector<Assignment> bounds;                           // [bounds]: admin only
  std::map<std::string, std::vector<Assignment>> profiles;  // [profiles.NAME]: not in a project
  std::vector<model::EgressRule> egress_rules;              // [[egress.rule]]
  std::vector<model::Credential> credentials;               // [[credential]]: not in a project
};

// Errors name file, line and key, what was expected and what was found; for an unknown key, the
// nearest known one. `home` is what "~/" stands for.
Result<PolicyText> read_policy(const Tier& tier, const std::string& home);

}  // namespace paddock::policy
