// Where the policy files are. Pure: the caller's loader opens them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/tier.h"

namespace paddock::policy {

inline constexpr const char* kAdminPolicy = "/etc/paddock/policy.toml";
inline constexpr const char* kProjectPolicy = "paddock.toml";  // in the root of the workspace

struct Places {
  std::string admin = kAdminPolicy;
  std::string config_home;  // $XDG_CONFIG_HOME; empty or relative: ~/.config
  std::string home;         // empty: no user tier without config_home
  std::string workspace;    // empty: no project tier
};

// The text of a file, nullopt when there is none; anything else (no permission, not a regular file,
// too large) is an error, so that a policy which cannot be read is not one that allows. The project
// file is the code's own: the loader follows no symlink to it, or an error message could show
// another file.
using Loader =
    std::function<Result<std::optional<std::string>>(TierKind kind, const std::string& path)>;

Result<std::vector<Tier>> load_tiers(const Places& places, const Loader& load);

}  // namespace paddock::policy
