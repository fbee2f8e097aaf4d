#include "egress/gate/first_bytes.h"

#include <algorithm>

#include "egress/http/framing.h"

namespace paddock::egress {
namespace {

constexpr std::string_view kSsh = "SSH-";
constexpr std::string_view kHttp2 = "PRI * HTTP/2.0\r\n";
constexpr size_t kMaxMethod = 32;

enum class Guess { yes, no, unclear };

// Whether `stream` begins with `text`, as far as it goes.
Guess begins_with(std::string_view stream, std::string_view text) {
  const size_t count = std::min(stream.size(), text.size());
  if (stream.substr(0, count) != text.substr(0, count)) return Guess::no;
  return count == text.size() ? Guess::yes : Guess::unclear;
}

// "METHOD target HTTP/x". Empty lines in front are passed over, as servers do.
Guess is_http(std::string_view stream) {
  const size_t begin = stream.find_first_not_of("\r\n");
  if (begin == std::string_view::npos) return Guess::unclear;
  stream.remove_prefix(begin);
  const size_t space = stream.find(' ');
  const std::string_view method = stream.substr(0, space);
  if (!http::is_token(method) || method.size() > kMaxMethod) return Guess::no;
  if (space == std::string_view::npos) return Guess::unclear;
  const size_t newline = stream.find('\n');
  const std::string_view line = stream.substr(0, newline);
  if (line.find(" HTTP/") != std::string_view::npos) return Guess::yes;
  if (newline != std::string_view::npos) return Guess::no;
  // A target without end is a request that will be refused as too long, not another protocol.
  const char target = stream.size() > space + 1 ? stream[space + 1] : '/';
  if (stream.size() >= kMaxFirstBytes / 2)
    return target == '/' || target == 'h' ? Guess::yes : Guess::no;
  return Guess::unclear;
}

}  // namespace

std::optional<FirstBytes> classify_first_bytes(std::string_view stream, LookFor look_for) {
  if (stream.empty()) return std::nullopt;
  auto hello = tls::parse_client_hello(stream);
  if (hello.ok() && hello->has_value()) {
    return FirstBytes{.wire = Wire::tls, .hello = std::move(**hello), .http2 = false};
  }
  if (look_for == LookFor::tls && !hello.ok()) return FirstBytes();
  const Guess ssh = begins_with(stream, kSsh);
  if (ssh == Guess::yes) return FirstBytes{.wire = Wire::ssh, .hello = {}, .http2 = false};
  const Guess web = is_http(stream);
  if (web == Guess::yes) {
    const Guess http2 = begins_with(stream, kHttp2);
    if (http2 == Guess::unclear) return std::nullopt;
    return FirstBytes{.wire = Wire::http, .hello = {}, .http2 = http2 == Guess::yes};
  }
  const bool may_come = hello.ok() || ssh == Guess::unclear || web == Guess::unclear;
  if (may_come && stream.size() < kMaxFirstBytes) return std::nullopt;
  return FirstBytes{.wire = Wire::other, .hello = {}, .http2 = false};
}

}  // namespace paddock::egress
