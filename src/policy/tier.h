// Where policy comes from, from the weakest word to the strongest.
#pragma once

#include <cstdint>
#include <string>

#include "base/enum_names.h"

namespace paddock::policy {

enum class TierKind { shipped, admin, user, project, flag };
inline constexpr EnumNames<TierKind, 5> kTierNames{{{TierKind::shipped, "shipped"},
                                                    {TierKind::admin, "admin"},
                                                    {TierKind::user, "user"},
                                                    {TierKind::project, "project"},
                                                    {TierKind::flag, "flag"}}};

// A policy file that the caller read: admin, user or project.
struct Tier {
  TierKind kind = TierKind::project;
  std::string path;  // for messages
  std::string text;
};

// One use of a command-line flag, in the order given.
struct FlagValue {
  std::string key;   // of the setting, not the flag's own name
  std::string text;  // for a list, one entry
};

struct Origin {
  TierKind tier = TierKind::shipped;
  std::string path;     // the file; of a flag its name
  uint32_t line = 0;    // 0: no line
  std::string profile;  // the bundle that the value came with; empty: the tier says it itself
};

// "user policy /home/u/.config/paddock/policy.toml:3", "flag --memory", "shipped policy".
std::string describe(const Origin& origin);

}  // namespace paddock::policy
