#include "api/e2b/json.h"

#include <fmt/core.h>

#include <ctime>

#include "model/json.h"
#include "service/audit_line.h"

namespace paddock::api::e2b {
namespace {

using boost::json::object;

Error wrong_type(std::string_view name, std::string_view wanted) {
  return Error(Code::invalid_argument, fmt::format("'{}' must be {}", name, wanted));
}

const boost::json::value* find(const object& in, std::string_view name) {
  const auto* value = in.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

}  // namespace

Result<object> parse_object(std::string_view text) {
  if (text.empty()) return object();
  auto value = model::parse_json(text);
  if (!value.ok() || !value->is_object()) {
    return Error(Code::invalid_argument, "the body is no JSON object");
  }
  return std::move(value->get_object());
}

Result<std::optional<std::string>> text_field(const object& in, std::string_view name) {
  const auto* value = find(in, name);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return wrong_type(name, "a string");
  return std::optional(std::string(value->get_string()));
}

Result<std::optional<int64_t>> number_field(const object& in, std::string_view name) {
  const auto* value = find(in, name);
  if (value == nullptr) return std::optional<int64_t>();
  boost::json::error_code error;
  const auto number = value->to_number<int64_t>(error);  // 60.0 is a whole number, too
  if (error) return wrong_type(name, "a whole number");
  return std::optional(number);
}

Result<std::optional<bool>> flag_field(const object& in, std::string_view name) {
  const auto* value = find(in, name);
  if (value == nullptr) return std::optional<bool>();
  if (!value->is_bool()) return wrong_type(name, "true or false");
  return std::optional(value->get_bool());
}

Result<std::map<std::string, std::string>> map_field(const object& in, std::string_view name) {
  std::map<std::string, std::string> out;
  const auto fields = PD_TRY(object_field(in, name));
  if (!fields) return out;
  for (const auto& [key, value] : *fields) {
    if (!value.is_string()) return wrong_type(name, "an object of strings");
    out.emplace(key, std::string(value.get_string()));
  }
  return out;
}

Result<std::optional<object>> object_field(const object& in, std::string_view name) {
  const auto* value = find(in, name);
  if (value == nullptr) return std::optional<object>();
  if (!value->is_object()) return wrong_type(name, "an object");
  return std::optional(value->get_object());
}

std::string timestamp(int64_t wall_ms) {
  return service::rfc3339(wall_ms);
}

Result<int64_t> parse_timestamp(const std::string& text) {
  const Error wrong(Code::invalid_argument, "must be a time like 2026-01-02T03:04:05.678Z");
  struct tm utc {};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &utc);
  if (rest == nullptr) return wrong;
  int64_t ms = 0;
  if (*rest == '.') {
    int64_t unit = 100;
    for (++rest; *rest >= '0' && *rest <= '9'; ++rest, unit /= 10) ms += unit * (*rest - '0');
  }
  struct tm zone {};
  const char sign = *rest;
  if (sign == '+' || sign == '-') {
    rest = ::strptime(rest + 1, "%H:%M", &zone);
  } else if (sign == 'Z') {
    ++rest;
  } else {
    return wrong;
  }
  if (rest == nullptr || *rest != '\0') return wrong;
  const int64_t offset_s = (zone.tm_hour * 60 + zone.tm_min) * 60;
  const int64_t seconds = ::timegm(&utc) - (sign == '-' ? -offset_s : offset_s);
  return seconds * 1000 + ms;
}

}  // namespace paddock::api::e2b
