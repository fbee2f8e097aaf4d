#include "egress/http/message.h"

#include <algorithm>

#include "base/strings.h"

namespace paddock::egress::http {

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

const Field* find_field(const Fields& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

void remove_field(Fields& fields, std::string_view name) {
  std::erase_if(fields, [&](const Field& field) { return field.name == name; });
}

void set_field(Fields& fields, std::string_view name, std::string value) {
  remove_field(fields, name);
  fields.push_back({std::string(name), std::move(value)});
}

bool has_token(const Fields& fields, std::string_view name, std::string_view token) {
  for (const Field& field : fields) {
    if (field.name != name) continue;
    for (const std::string& part : split(field.value, ',')) {
      if (lower_case(trim(part)) == token) return true;
    }
  }
  return false;
}

}  // namespace paddock::egress::http
