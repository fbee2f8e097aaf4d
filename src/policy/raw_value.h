// A TOML document as our own tree, so that one unit alone includes toml++. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddock::policy {

enum class RawType { string, integer, real, boolean, date, list, table };
std::string_view describe(RawType type);  // "a boolean"

struct RawMember;

struct RawValue {
  RawType type = RawType::table;
  std::string text;                // of a scalar
  std::vector<RawValue> items;     // of a list
  std::vector<RawMember> members;  // of a table, sorted by name
};

struct RawMember {
  std::string name;
  uint32_t line = 0;  // 1…
  RawValue value;
};

// Bounds on what a policy file may hold. Beyond them is an error, never a cut.
inline constexpr size_t kMaxFileBytes = 256ull * 1024;
inline constexpr size_t kMaxLineBytes = 4096;  // also bounds the nesting that one key can ask for
inline constexpr size_t kMaxDepth = 8;
inline constexpr size_t kMaxEntries = 1024;    // of one list or table
inline constexpr size_t kMaxTextBytes = 4096;  // of one string or key

// Refuses invalid UTF-8. `path` names the file in errors, which read "<path>:<line>: …".
Result<RawValue> parse_toml(std::string_view text, std::string_view path);

}  // namespace paddock::policy
