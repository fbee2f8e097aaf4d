#include "wire/proxy_request.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"

namespace paddock::wire {
namespace {

using std::string_literals::operator""s;

constexpr char kVersion = 5;
constexpr char kNoAuthentication = 0;
constexpr char kConnect = 1;
constexpr char kIpv4 = 1, kName = 3, kIpv6 = 4;
constexpr char kNotAllowed = 2, kBadCommand = 7, kBadAddress = 8, kFailure = 1;
constexpr size_t kMaxHead = 16 * 1024;

size_t octet_at(std::string_view bytes, size_t at) {
  return static_cast<uint8_t>(bytes[at]);
}

std::string socks_reply(char code) {
  return std::string{kVersion, code, 0, kIpv4} + std::string(6, '\0');
}

std::string address_text(std::string_view raw) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(raw.size() == 4 ? AF_INET : AF_INET6, raw.data(), text.data(), text.size());
  return text.data();
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string ProxyGreeting::accepted(ProxyForm form) {
  return form == ProxyForm::socks5 ? socks_reply(0) : "HTTP/1.1 200 Connection established\r\n\r\n";
}

std::string ProxyGreeting::refused(ProxyForm form, std::string_view reason) {
  if (form == ProxyForm::socks5) return socks_reply(kNotAllowed);
  const std::string body = printable(reason) + "\n";
  return fmt::format(
      "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n"
      "X-Paddock-Denied: egress\r\nConnection: close\r\n\r\n{}",
      body.size(), body);
}

std::string ProxyGreeting::take_reply() {
  return std::exchange(reply_, {});
}

Error ProxyGreeting::fail(ProxyForm form, Code code, std::string_view why, char reply) {
  stage_ = Stage::done;
  reply_ = form == ProxyForm::socks5 ? socks_reply(reply) : refused(form, why);
  return Error(code, fmt::format("request to the proxy: {}", why));
}

Result<std::optional<ProxyDestination>> ProxyGreeting::receive(std::string_view bytes) {
  if (stage_ == Stage::done)
    return Error(Code::data_corrupt, "request to the proxy: after its end");
  pending_ += bytes;
  if (stage_ == Stage::methods && !pending_.empty() && pending_[0] != kVersion)
    stage_ = Stage::http;
  return stage_ == Stage::http ? receive_connect() : receive_socks();
}

Result<std::optional<ProxyDestination>> ProxyGreeting::receive_socks() {
  if (stage_ == Stage::methods) {
    if (pending_.size() < 2 || pending_.size() < 2 + octet_at(pending_, 1))
      return std::optional<ProxyDestination>();
    const std::string methods = pending_.substr(2, octet_at(pending_, 1));
    pending_.erase(0, 2 + methods.size());
    if (methods.find(kNoAuthentication) == std::string::npos) {
      stage_ = Stage::done;
      reply_ = "\x05\xff";
      return Error(Code::unsupported, "request to the proxy: it knows no user");
    }
    reply_ = "\x05\0"s;
    stage_ = Stage::request;
  }
  if (pending_.size() < 5) return std::optional<ProxyDestination>();
  if (pending_[0] != kVersion || pending_[2] != 0) {
    return fail(ProxyForm::socks5, Code::data_corrupt, "malformed", kFailure);
  }
  if (pending_[1] != kConnect) {
    return fail(ProxyForm::socks5, Code::unsupported, "only connections are carried", kBadCommand);
  }
  const char type = pending_[3];
  const size_t size = type == kIpv4   ? 4
                      : type == kIpv6 ? 16
                      : type == kName ? 1 + octet_at(pending_, 4)
                                      : 0;
  if (size == 0)
    return fail(ProxyForm::socks5, Code::unsupported, "an unknown kind of address", kBadAddress);
  if (pending_.size() < 4 + size + 2) return std::optional<ProxyDestination>();
  const std::string raw = pending_.substr(4, size);
  ProxyDestination out{.form = ProxyForm::socks5,
                       .host = type == kName ? raw.substr(1) : address_text(raw)};
  out.port =
      static_cast<uint16_t>(octet_at(pending_, 4 + size) << 8 | octet_at(pending_, 5 + size));
  pending_.erase(0, 4 + size + 2);
  stage_ = Stage::done;
  return std::optional(std::move(out));
}

// "CONNECT host:port HTTP/1.1" and fields that say nothing to us.
Result<std::optional<ProxyDestination>> ProxyGreeting::receive_connect() {
  const size_t end = pending_.find("\r\n\r\n");
  if (end == std::string::npos) {
    if (pending_.size() > kMaxHead)
      return fail(ProxyForm::http_connect, Code::data_corrupt, "without end", 0);
    return std::optional<ProxyDestination>();
  }
  const std::string line = pending_.substr(0, pending_.find("\r\n"));
  const std::vector<std::string> words = split(line, ' ');
  if (words.size() != 3 || words[0] != "CONNECT" || !words[2].starts_with("HTTP/1.")) {
    return fail(ProxyForm::http_connect, Code::unsupported,
                "only CONNECT is served: " + printable(line.substr(0, 80)), 0);
  }
  const size_t colon = words[1].rfind(':');
  const std::string digits = colon == std::string::npos ? "" : words[1].substr(colon + 1);
  const auto port =
      std::all_of(digits.begin(), digits.end(), is_digit) ? parse_u64(digits) : std::nullopt;
  if (!port || *port == 0 || *port > 65535 || colon == 0) {
    return fail(ProxyForm::http_connect, Code::data_corrupt, "no host and port", 0);
  }
  std::string host = words[1].substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  pending_.erase(0, end + 4);
  stage_ = Stage::done;
  return std::optional(ProxyDestination{.form = ProxyForm::http_connect,
                                        .host = std::move(host),
                                        .port = static_cast<uint16_t>(*port)});
}

}  // namespace paddock::wire
