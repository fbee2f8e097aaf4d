// Tiers and flags to the settings of one sandbox. Pure: the caller reads the files.
//
// Tiers speak in the order shipped, admin, user, project, flags; each value meets the one in force
// by the order of its setting (setting.h).
//   - What the admin sets is the value and the limit: neither user nor flags get past it. [bounds]
//   in
//     the admin file moves the limit of a key, and alone it narrows the shipped value.
//   - The user tier and flags may widen up to there.
//   - The project tier, which the code inside may have written, can only narrow.
// Anything past its limit is permission_denied, naming key, both values and both places; it is
// never dropped in silence.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/settings.h"
#include "policy/setting.h"
#include "policy/tier.h"

namespace paddock::policy {

struct Sources {
  std::vector<Tier> tiers;  // at most one of each kind, in any order
  std::vector<FlagValue> flags;
  std::string home;  // of the caller, for "~/"
};

struct Bound {
  Value value;
  Origin origin;
};

struct Compiled {
  model::Settings settings;
  // Of each key: who gave its value; where tiers add up, each that gave a part.
  std::map<std::string, std::vector<Origin>> origins;
  std::map<std::string, Bound> bounds;
};

Result<Compiled> compile(const Sources& sources);

// Whether `entry` may be added to a list that grants. permission_denied: past its bound.
Status check_grant(const Compiled& compiled, std::string_view key, const std::string& entry);

// Bounds hold for what a granted path leads to, not for its name. Whoever opens the source of a
// grant calls this with the symlinks resolved: an entry of "files.read" or "files.write", or the
// text of a mount (mount_text.h). permission_denied: it leads out of the bound.
Status check_resolved(const Compiled& compiled, std::string_view key, const std::string& entry);

}  // namespace paddock::policy
