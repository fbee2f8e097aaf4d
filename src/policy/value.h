// Values: from TOML and flags, checked against their setting, and back to TOML text. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/mount_text.h"
#include "policy/raw_value.h"
#include "policy/setting.h"

namespace paddock::policy {

// invalid_argument says what was expected and what was found; the caller adds key and place.
Result<Value> parse_value(const Setting& setting, const RawValue& raw, const PathRules& rules);

// One use of a flag. For a list it is one entry.
Result<Value> parse_flag(const Setting& setting, std::string_view text, const PathRules& rules);

// As TOML writes it: "\"4G\"", "[\"a\", \"b\"]". Reads back to the same value.
std::string format_value(const Setting& setting, const Value& value);

// What a reader must write: "a size between 16M and 1024T, such as \"4G\"".
std::string expectation(const Setting& setting);

}  // namespace paddock::policy
