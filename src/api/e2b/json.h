// Reading clients' JSON, and the few forms that the wire has of its own.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::api::e2b {

// An object, nested at most 32 deep. invalid_argument otherwise. Empty text is an empty object.
Result<boost::json::object> parse_object(std::string_view text);

// Absent and null are nullopt; another type is invalid_argument, which names the field.
Result<std::optional<std::string>> text_field(const boost::json::object& object,
                                              std::string_view name);
Result<std::optional<int64_t>> number_field(const boost::json::object& object,
                                            std::string_view name);
Result<std::optional<bool>> flag_field(const boost::json::object& object, std::string_view name);
Result<std::map<std::string, std::string>> map_field(const boost::json::object& object,
                                                     std::string_view name);
Result<std::optional<boost::json::object>> object_field(const boost::json::object& object,
                                                        std::string_view name);

// RFC 3339 in UTC with milliseconds.
std::string timestamp(int64_t wall_ms);
// Milliseconds since the epoch. invalid_argument: not RFC 3339 with a zone.
Result<int64_t> parse_timestamp(const std::string& text);

}  // namespace paddock::api::e2b
