// Heads of HTTP/1.1 messages, as values. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::net::http {

// Names keep their case and are compared without it.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> fields) : fields_(fields) {}

  void add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
  }
  // The first of that name; "" when there is none.
  std::string_view get(std::string_view name) const;
  bool has(std::string_view name) const { return count(name) > 0; }
  size_t count(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

bool equals_ignoring_case(std::string_view a, std::string_view b);

struct RequestHead {
  std::string method;
  std::string target;  // origin form: "/path?query", still percent-encoded
  int minor_version = 1;
  Headers headers;

  std::string_view path() const;   // of the target, still encoded
  std::string_view query() const;  // behind the `?`
};

struct Response {
  int status = 200;
  Headers headers;  // without those that frame the body
  std::string body;
};

std::string_view reason_of(int status);

// Percent-decoding; `+` is a space in queries. A broken escape stays as it is.
enum class Decode { path, query };
std::string percent_decode(std::string_view text, Decode what);
// In order of appearance, decoded.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);

}  // namespace paddock::net::http
