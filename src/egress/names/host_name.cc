#include "egress/names/host_name.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"

namespace paddock::egress {
namespace {

constexpr size_t kMaxName = 253;
constexpr size_t kMaxLabel = 63;
constexpr size_t kShown = 80;  // of a hostile text in a message

Error refused(std::string_view text, std::string_view why) {
  const bool cut = text.size() > kShown;
  return Error(
      Code::invalid_argument,
      fmt::format("host '{}{}': {}", printable(text.substr(0, kShown)), cut ? "…" : "", why));
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c);
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Why a byte has no place in a name; empty: it has one.
std::string_view complaint_about(char c) {
  if (is_alnum(c) || c == '-' || c == '_') return {};
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte == 0x7f) return "a control character";
  if (byte >= 0x80) return "not ASCII: write the name in its xn-- form";
  switch (c) {
    case ' ':
      return "a space";
    case '%':
      return "a percent sign: names are not escaped";
    case '@':
      return "'@': no user goes with a host";
    case ':':
      return "':': the port is set apart from the host";
    case '*':
      return "'*' stands only in patterns, as \"*.label\"";
    default:
      return "a character that no host name has";
  }
}

std::string_view complaint_about_label(std::string_view label) {
  if (label.empty()) return "an empty label";
  if (label.size() > kMaxLabel) return "a label of more than 63 bytes";
  for (char c : label) {
    if (auto why = complaint_about(c); !why.empty()) return why;
  }
  if (label.front() == '-' || label.back() == '-') return "a label begins or ends with '-'";
  // Service names ("_ldap._tcp") are no hosts; an inner underscore is seen in real ones.
  if (label.front() == '_') return "a label begins with '_'";
  if (label == "xn--") return "an empty A-label";
  return {};
}

// Of the last label: inet_aton(3) and the URL standard read such a name as an IPv4 address.
bool is_numeric(std::string_view label) {
  if (std::all_of(label.begin(), label.end(), is_digit)) return true;
  return label.size() >= 2 && label[0] == '0' && label[1] == 'x' &&
         std::all_of(label.begin() + 2, label.end(),
                     [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

std::string_view complaint_about_name(std::string_view text) {
  if (text.empty()) return "no name";
  if (text.size() > kMaxName) return "longer than 253 bytes";
  std::string_view rest = text;
  while (true) {
    const size_t dot = rest.find('.');
    const std::string_view label = rest.substr(0, dot);
    if (auto why = complaint_about_label(label); !why.empty()) return why;
    if (dot == std::string_view::npos) {
      return is_numeric(label) ? "an address in an unusual spelling" : std::string_view();
    }
    rest.remove_prefix(dot + 1);
  }
}

Result<uint16_t> parse_port(std::string_view whole, std::string_view digits) {
  const auto port = digits.size() <= 5 ? parse_u64(digits) : std::nullopt;
  if (!port || *port == 0 || *port > 65535)
    return refused(whole, "the port is not one of 1 to 65535");
  return static_cast<uint16_t>(*port);
}

}  // namespace

Result<HostName> HostName::parse(std::string_view text) {
  std::string name(text);
  if (name.size() > 1 && name.back() == '.') name.pop_back();  // "example.com." is example.com
  std::transform(name.begin(), name.end(), name.begin(), lower);
  if (auto why = complaint_about_name(name); !why.empty()) return refused(text, why);
  HostName host;
  host.text_ = std::move(name);
  return host;
}

bool HostName::is_below(const HostName& parent) const {
  const std::string& suffix = parent.text_;
  if (text_.size() <= suffix.size()) return text_ == suffix;
  return text_.ends_with(suffix) && text_[text_.size() - suffix.size() - 1] == '.';
}

std::string to_string(const Host& host) {
  if (const auto* name = std::get_if<HostName>(&host)) return name->str();
  return std::get<model::IpAddress>(host).str();
}

Result<Host> parse_host(std::string_view text) {
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    auto inner = model::IpAddress::parse(text.substr(1, text.size() - 2));
    if (!inner.ok() || inner->is_v4()) return refused(text, "no IPv6 address between the brackets");
    return Host(*inner);
  }
  if (auto address = model::IpAddress::parse(text); address.ok()) return Host(*address);
  return Host(PD_TRY(HostName::parse(text)));
}

Result<HostAndPort> parse_authority(std::string_view text) {
  const size_t bracket = text.rfind(']');
  const size_t colon = text.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  const std::string_view host = has_port ? text.substr(0, colon) : text;
  if (host.find(':') != std::string_view::npos && host.front() != '[') {
    return refused(text, "an IPv6 address goes in brackets");
  }
  HostAndPort out{.host = PD_TRY(parse_host(host)), .port = {}};
  if (has_port && colon + 1 < text.size())
    out.port = PD_TRY(parse_port(text, text.substr(colon + 1)));
  return out;
}

}  // namespace paddock::egress
