// Trust to isolation level. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/level.h"
#include "model/settings.h"

namespace paddock::policy {

struct LevelChoice {
  model::Level level = model::Level::microvm;
  // Set when `level` is weaker than the trust requires: the policy that accepted it.
  std::optional<std::string> accepted_by;
};

// The level that was asked for, or else the weakest that policy lets code of this trust have.
// permission_denied, with the remedy: what was asked for is weaker than that.
Result<LevelChoice> resolve_level(const model::Settings& settings);

// Less trusted code never gets less: accepting a weak level for one trust says nothing for a better
// one, whose floor counts too. Hostile code gets what it requires, whatever `accept` says.
model::Level weakest_level(const model::Settings& settings, model::Trust trust);

}  // namespace paddock::policy
