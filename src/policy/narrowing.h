// The "narrower" relation and the meeting of values, per setting. Pure.
#pragma once

#include <optional>
#include <string>

#include "policy/setting.h"

namespace paddock::policy {

// What an entry of a granting list covers. `same`: itself (and, for a mount, itself read-only): a
// project names no path of its own. `within`: what lies below it too, for bounds.
enum class Coverage { same, within };

// nullopt: `candidate` is as narrow as `limit` or narrower. Otherwise the part that is wider, as
// TOML text. Reflexive and transitive for each setting and coverage.
std::optional<std::string> wider_part(const Setting& setting, const Value& candidate,
                                      const Value& limit, Coverage coverage);

enum class Source { file, flag };

// What holds once `given` meets `current`, by the order of the setting.
Value merge(const Setting& setting, const Value& current, const Value& given, Source source);

// The widest value that is no wider than `bound`, starting from `value`.
Value clamp(const Setting& setting, const Value& value, const Value& bound);

}  // namespace paddock::policy
