// The one form of a host name that is matched, resolved, dialled, logged and compared.
//
// Lower-case ASCII labels of letters, digits, '-' and '_', joined by dots, no dot at the end, at
// most 63 bytes a label and 253 in all (RFC 1035, RFC 1123). Names in other scripts are taken in
// their A-label form only ("xn--…"): two spellings of one name would be two names. What could be
// read as a number by any resolver ("0x7f.1", "2130706433", "1.2.3.04") is no name at all.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "model/ip_address.h"

namespace paddock::egress {

class HostName {
 public:
  // invalid_argument says what is wrong with the text.
  static Result<HostName> parse(std::string_view text);

  const std::string& str() const { return text_; }
  // The name itself or below it, on label boundaries: "a.example.com" is below "example.com".
  bool is_below(const HostName& parent) const;
  auto operator<=>(const HostName&) const = default;

 private:
  std::string text_;
};

// What a program asks for: a name, or an address that it brought along.
using Host = std::variant<HostName, model::IpAddress>;

std::string to_string(const Host& host);

// A name, a dotted quad, or an IPv6 address, bare or in brackets.
Result<Host> parse_host(std::string_view text);

struct HostAndPort {
  Host host;
  std::optional<uint16_t> port;
};

// The authority of a URL or of a Host header: "host", "host:port", "[v6]:port". Userinfo is
// refused; an empty port ("host:") is none, as RFC 3986 has it.
Result<HostAndPort> parse_authority(std::string_view text);

}  // namespace paddock::egress
