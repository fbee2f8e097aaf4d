#include "api/e2b/routing.h"

#include <algorithm>

#include "base/strings.h"
#include "model/ip_address.h"

namespace paddock::api::e2b {
namespace {

using net::http::equals_ignoring_case;
using net::http::RequestHead;

// Without the port. IPv6 addresses stand in brackets.
std::string_view host_part(std::string_view authority) {
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    return end == std::string_view::npos ? authority : authority.substr(1, end - 1);
  }
  return authority.substr(0, authority.find(':'));
}

bool is_below(std::string_view host, std::string_view domain) {
  return host.size() > domain.size() + 1 && host[host.size() - domain.size() - 1] == '.' &&
         equals_ignoring_case(host.substr(host.size() - domain.size()), domain);
}

// Names that no DNS of somebody else's can point at us.
bool is_loopback_name(std::string_view host) {
  if (equals_ignoring_case(host, "localhost") || is_below(host, "localhost")) return true;
  auto address = model::IpAddress::parse(std::string(host));
  return address.ok() && (host == "::1" || host.starts_with("127."));
}

Status check_browser(const RequestHead& request, std::string_view domain) {
  auto is_ours = [&](std::string_view name) {
    return is_loopback_name(name) || equals_ignoring_case(name, domain) || is_below(name, domain);
  };
  auto refuse = [](std::string what) {
    return Error(Code::permission_denied, std::move(what))
        .set_remedy("name the server by localhost or a loopback address");
  };
  const std::string_view host = request.headers.get("host");
  if (!is_ours(host_part(host))) {
    return refuse("Host '" + printable(host.substr(0, 100)) + "' is not this server's");
  }
  const std::string_view origin = request.headers.get("origin");
  if (origin.empty()) return {};
  const size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos || !is_ours(host_part(origin.substr(scheme + 3)))) {
    return refuse("pages of '" + printable(origin.substr(0, 100)) +
                  "' may not talk to this server");
  }
  return {};
}

bool is_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
}

// PORT-ID.domain
bool names_sandbox(std::string_view host) {
  const size_t dot = host.find('.');
  const std::string_view label = host.substr(0, dot);
  const size_t dash = label.find('-');
  return dot != std::string_view::npos && dash != std::string_view::npos &&
         parse_u64(label.substr(0, dash)) && is_id(label.substr(dash + 1));
}

bool is_of_sandbox(std::string_view origin) {
  const size_t scheme = origin.find("://");
  return scheme != std::string_view::npos && names_sandbox(host_part(origin.substr(scheme + 3)));
}

Result<Route> sandbox_route(std::string_view id, std::string_view port) {
  const auto number = parse_u64(port);
  if (!is_id(id) || !number || *number == 0 || *number > 65535) {
    return Error(Code::invalid_argument,
                 "no sandbox id or port: " + printable(std::string(id.substr(0, 64)) + " " +
                                                       std::string(port.substr(0, 16))));
  }
  return Route{Route::To::sandbox, std::string(id), static_cast<uint16_t>(*number)};
}

}  // namespace

// "localhost" stands for an address: browsers and curl know names below it.
std::string domain_of(const RequestHead& request, std::string_view domain) {
  constexpr std::string_view kControl = "api.";
  constexpr std::string_view kLocal = "localhost";
  const std::string_view authority = request.headers.get("host");
  const std::string_view host = host_part(authority);
  const size_t colon = authority.rfind(':');
  std::string port;
  if (!authority.ends_with(']') && colon != std::string_view::npos) port = authority.substr(colon);
  if (domain != kLocal || !is_below(host, kLocal)) return std::string(domain) + port;
  return std::string(host.starts_with(kControl) ? host.substr(kControl.size()) : host) + port;
}

Result<Route> route(const RequestHead& request, const RouteOptions& options) {
  if (options.hosts == Hosts::loopback) PD_TRY(check_browser(request, options.domain));
  const std::string_view id = request.headers.get("e2b-sandbox-id");
  if (!id.empty()) {
    const std::string_view port = request.headers.get("e2b-sandbox-port");
    return sandbox_route(id, port.empty() ? std::to_string(kEnvdPort) : std::string(port));
  }
  const std::string_view host = host_part(request.headers.get("host"));
  const std::string_view label = host.substr(0, host.find('.'));
  const size_t dash = label.find('-');
  const bool is_port = is_below(host, "localhost") || is_below(host, options.domain);
  if (is_port && dash != std::string_view::npos) {
    return sandbox_route(label.substr(dash + 1), label.substr(0, dash));
  }
  // A page out of a sandbox is hostile, whoever looks at it.
  const std::string_view origin = request.headers.get("origin");
  if (!origin.empty() && is_of_sandbox(origin)) {
    return Error(Code::permission_denied, "pages of sandboxes may not talk to this server");
  }
  if (request.path() == "/files") return Route{Route::To::signed_file, "", kEnvdPort};
  return Route{};
}

}  // namespace paddock::api::e2b
