// One value of a git config file, without git: the file may be anybody's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paddock::view {

// The last value of `key` in [section] (no subsection), both case-insensitive as in git-config(1),
// with quotes and escapes undone. Includes are not followed. A key without `=` is "true".
std::optional<std::string> git_config_value(std::string_view config, std::string_view section,
                                            std::string_view key);

}  // namespace paddock::view
