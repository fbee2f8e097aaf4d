// The profiles that Paddock ships, as policy text.
#pragma once

#include <span>
#include <string_view>

namespace paddock::policy {

struct ShippedProfile {
  std::string_view name;
  std::string_view fear;  // what it is against, one sentence
  std::string_view text;  // TOML, within what a project may set
};

std::span<const ShippedProfile> shipped_profiles();
const ShippedProfile* find_shipped_profile(std::string_view name);  // nullptr: unknown

}  // namespace paddock::policy
