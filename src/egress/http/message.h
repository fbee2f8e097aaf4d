// HTTP requests and responses as the gate sees them, in either version of the protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::egress::http {

struct Field {
  std::string name;       // lower case
  std::string value;      // without blanks around it
  std::string spelled{};  // the name as HTTP/1 had it, for peers that mind; empty: `name`
};
using Fields = std::vector<Field>;

struct Request {
  std::string method;     // as sent: methods are case-sensitive
  std::string target;     // path and query as sent, "/a?b"; "*" for OPTIONS
  std::string authority;  // Host or :authority, as sent
  Fields fields;

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  std::string_view query() const {
    const size_t mark = target.find('?');
    return mark == std::string::npos ? std::string_view()
                                     : std::string_view(target).substr(mark + 1);
  }
};

struct Response {
  uint16_t status = 0;
  std::string reason;
  Fields fields;
};

// The first field of that name (lower case), nullptr without one.
const Field* find_field(const Fields& fields, std::string_view name);
// Replaces every field of that name by one.
void set_field(Fields& fields, std::string_view name, std::string value);
void remove_field(Fields& fields, std::string_view name);
// Whether a comma-separated field holds the token, whatever its case.
bool has_token(const Fields& fields, std::string_view name, std::string_view token);

std::string lower_case(std::string_view text);

}  // namespace paddock::egress::http
