#include "egress/http/request_head.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "egress/names/host_name.h"

namespace paddock::egress::http {
namespace {

constexpr size_t kMaxShown = 80;

Error corrupt_request(std::string why) {
  return Error(Code::data_corrupt, "HTTP request: " + std::move(why));
}

std::string shown(std::string_view text) {
  return "'" + printable(text.substr(0, kMaxShown)) + "'";
}

bool is_target_byte(char c) {
  return c > 0x20 && c < 0x7f && c != '#';
}

// Method, target and version, apart by one space each.
Status parse_request_line(std::string_view line, RequestHead& head) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    return corrupt_request("line " + shown(line));
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method)) return corrupt_request("method " + shown(method));
  if (target.empty() || !std::all_of(target.begin(), target.end(), is_target_byte)) {
    return corrupt_request("target " + shown(target));
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return corrupt_request("version " + shown(version));
  head.request.method = method;
  head.request.target = target;
  head.minor_version = version.back() == '1' ? 1 : 0;
  return {};
}

Status take_host(RequestHead& head) {
  auto& fields = head.request.fields;
  const auto hosts = std::count_if(fields.begin(), fields.end(),
                                   [](const Field& field) { return field.name == "host"; });
  if (hosts != 1) return corrupt_request(fmt::format("{} Host headers", hosts));
  head.request.authority = find_field(fields, "host")->value;
  remove_field(fields, "host");
  return {};
}

bool same_authority(std::string_view a, std::string_view b, Scheme scheme) {
  const auto left = parse_authority(a);
  const auto right = parse_authority(b);
  const uint16_t usual = scheme == Scheme::http ? 80 : 443;
  return left.ok() && right.ok() && left->host == right->host &&
         left->port.value_or(usual) == right->port.value_or(usual);
}

Status shorten_target(RequestHead& head, Scheme scheme) {
  std::string& target = head.request.target;
  if (head.request.method == "CONNECT") {
    return Error(Code::unsupported,
                 "HTTP request: CONNECT: the gate needs no proxy, connect to the host");
  }
  if (target.starts_with('/')) return {};
  if (target == "*" && head.request.method == "OPTIONS") return {};
  const std::string_view prefix = scheme == Scheme::http ? "http://" : "https://";
  if (lower_case(target.substr(0, prefix.size())) != prefix)
    return corrupt_request("target " + shown(target));
  const std::string_view rest = std::string_view(target).substr(prefix.size());
  const size_t path = std::min(rest.find_first_of("/?"), rest.size());
  if (!same_authority(rest.substr(0, path), head.request.authority, scheme)) {
    return corrupt_request(
        fmt::format("target {} for Host {}", shown(target), shown(head.request.authority)));
  }
  std::string shortened(rest.substr(path));
  if (!shortened.starts_with('/')) shortened.insert(0, "/");
  target = std::move(shortened);
  return {};
}

Status read_body(RequestHead& head) {
  const std::optional<Body> body = PD_TRY(declared_body(head.request.fields));
  if (body && body->kind == BodyKind::chunked && head.minor_version == 0) {
    return corrupt_request("chunked in HTTP/1.0");
  }
  head.body = body.value_or(Body());
  return {};
}

// A switch to a protocol that hides requests (h2c and whatever comes) ends inspection.
Status read_connection(RequestHead& head) {
  const Fields& fields = head.request.fields;
  const bool close = has_token(fields, "connection", "close");
  const bool keep = has_token(fields, "connection", "keep-alive");
  head.keeps_alive = head.minor_version == 1 ? !close : keep && !close;
  if (const Field* expect = find_field(fields, "expect")) {
    if (lower_case(expect->value) != "100-continue")
      return corrupt_request("Expect " + shown(expect->value));
    head.expects_continue = head.minor_version == 1;
  }
  const Field* upgrade = find_field(fields, "upgrade");
  if (upgrade == nullptr) return {};
  if (lower_case(upgrade->value) != "websocket" || !has_token(fields, "connection", "upgrade") ||
      head.body.kind != BodyKind::none || head.request.method != "GET") {
    return Error(Code::unsupported, "HTTP request: an upgrade to " + shown(upgrade->value));
  }
  head.upgrades = true;
  return {};
}

}  // namespace

Result<std::optional<RequestHead>> parse_request_head(std::string_view stream, Scheme scheme) {
  const auto bytes = PD_TRY(find_head(stream));
  if (!bytes) return std::optional<RequestHead>();
  std::string_view rest = *bytes;
  RequestHead head;
  head.size = rest.size();
  PD_TRY(parse_request_line(take_line(rest), head));
  head.request.fields = PD_TRY(parse_fields(rest));
  PD_TRY(take_host(head));
  PD_TRY(shorten_target(head, scheme));
  PD_TRY(read_body(head));
  PD_TRY(read_connection(head));
  return std::optional(std::move(head));
}

std::string serialize(const RequestHead& head) {
  std::string out = fmt::format("{} {} HTTP/1.{}\r\nHost: {}\r\n", head.request.method,
                                head.request.target, head.minor_version, head.request.authority);
  for (const Field& field : head.request.fields) {
    out += (field.spelled.empty() ? field.name : field.spelled) + ": " + field.value + "\r\n";
  }
  return out + "\r\n";
}

}  // namespace paddock::egress::http
