// Short ways to compile policy in tests.
#pragma once

#include <string>
#include <vector>

#include "policy/compile.h"
#include "policy/value.h"

namespace paddock::policy::testing {

inline Tier admin(std::string text) {
  return {TierKind::admin, "/etc/admin.toml", std::move(text)};
}
inline Tier user(std::string text) {
  return {TierKind::user, "/home/u/user.toml", std::move(text)};
}
inline Tier project(std::string text) {
  return {TierKind::project, "paddock.toml", std::move(text)};
}

inline Result<Compiled> compile_tiers(std::vector<Tier> tiers, std::vector<FlagValue> flags = {}) {
  return compile({.tiers = std::move(tiers), .flags = std::move(flags), .home = "/home/u"});
}

// Every setting but `profile`, a line each: what two policies must agree on to be the same.
inline std::string dump(const model::Settings& settings) {
  std::string out;
  for (const Setting& setting : policy::settings()) {
    if (setting.order == Order::of_its_parts) continue;
    out += std::string(setting.key) + " = " + format_value(setting, setting.access.get(settings)) +
           "\n";
  }
  return out;
}

}  // namespace paddock::policy::testing
