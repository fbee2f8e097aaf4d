#include "api/e2b/port_heads.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace paddock::api::e2b {
namespace {

using egress::http::lower_case;
using net::http::equals_ignoring_case;
using net::http::RequestHead;

constexpr std::array<std::string_view, 10> kOfConnection{"connection",
                                                         "keep-alive",
                                                         "proxy-connection",
                                                         "proxy-authenticate",
                                                         "proxy-authorization",
                                                         "te",
                                                         "trailer",
                                                         "transfer-encoding",
                                                         "upgrade",
                                                         "http2-settings"};
// Sent on anew, or for us alone.
constexpr std::array<std::string_view, 9> kOurs{"host",
                                                "expect",
                                                "x-forwarded-for",
                                                "x-forwarded-host",
                                                "x-forwarded-proto",
                                                "e2b-sandbox-id",
                                                "e2b-sandbox-port",
                                                "e2b-traffic-access-token",
                                                "forwarded"};

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::any_of(names, [&](auto one) { return equals_ignoring_case(one, name); });
}

// Names that this message's Connection field makes its own connection's.
std::vector<std::string> named_by_connection(std::string_view value) {
  std::vector<std::string> names;
  for (const std::string& token : split(value, ',')) {
    names.push_back(lower_case(trim(token)));
  }
  return names;
}

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::any_of(names,
                             [&](const auto& one) { return equals_ignoring_case(one, name); });
}

std::string all_of(const RequestHead& request, std::string_view name) {
  std::string out;
  for (const auto& [field, value] : request.headers.fields()) {
    if (!equals_ignoring_case(field, name)) continue;
    out += (out.empty() ? "" : ", ") + value;
  }
  return out;
}

void add(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string host_inside(const std::string& mask, std::string_view asked, uint16_t port) {
  constexpr std::string_view kPort = "${PORT}";
  if (mask.empty()) return std::string(asked);
  std::string host = mask;
  for (size_t at = host.find(kPort); at != std::string::npos; at = host.find(kPort, at)) {
    const std::string number = std::to_string(port);
    host.replace(at, kPort.size(), number);
    at += number.size();
  }
  return host;
}

PassedHead pass_request(const RequestHead& request, const PassOptions& options) {
  PassedHead out;
  const std::vector<std::string> own = named_by_connection(all_of(request, "connection"));
  out.upgrades = holds(own, "upgrade") && request.headers.has("upgrade");
  const bool chunked = request.headers.has("transfer-encoding");
  out.text = request.method + " " + request.target + " HTTP/1.1\r\n";
  add(out.text, "Host", options.host);
  for (const auto& [name, value] : request.headers.fields()) {
    if (is_one_of(kOfConnection, name) || is_one_of(kOurs, name)) continue;
    const bool length = equals_ignoring_case(name, "content-length");
    if (length ? chunked : holds(own, name)) continue;
    const bool token = equals_ignoring_case(name, "x-access-token");
    if (token && holds(options.withheld, value)) continue;
    add(out.text, name, value);
  }
  add(out.text, "X-Forwarded-For", "127.0.0.1");
  add(out.text, "X-Forwarded-Host", request.headers.get("host"));
  add(out.text, "X-Forwarded-Proto", options.scheme);
  if (chunked) {
    out.body = PassedHead::Body::chunked;
    add(out.text, "Transfer-Encoding", "chunked");
  } else if (request.headers.has("content-length")) {
    out.body = PassedHead::Body::sized;
  }
  if (out.upgrades) {
    add(out.text, "Connection", "Upgrade");
    add(out.text, "Upgrade", all_of(request, "upgrade"));
  } else {
    add(out.text, "Connection", "close");
  }
  out.text += "\r\n";
  return out;
}

net::http::Response pass_response(const egress::http::ResponseHead& head) {
  net::http::Response out;
  out.status = head.response.status;
  std::vector<std::string> own;
  for (const egress::http::Field& field : head.response.fields) {
    if (field.name != "connection") continue;
    for (std::string& name : named_by_connection(field.value)) own.push_back(std::move(name));
  }
  for (const egress::http::Field& field : head.response.fields) {
    if (is_one_of(kOfConnection, field.name) || field.name == "content-length") continue;
    if (holds(own, field.name)) continue;
    out.headers.add(field.spelled.empty() ? field.name : field.spelled, field.value);
  }
  if (head.response.status == 101) {
    out.headers.add("Connection", "Upgrade");
    const auto* upgrade = egress::http::find_field(head.response.fields, "upgrade");
    if (upgrade != nullptr) out.headers.add("Upgrade", upgrade->value);
  }
  return out;
}

}  // namespace paddock::api::e2b
