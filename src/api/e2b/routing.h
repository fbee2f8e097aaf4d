// Which part of the surface a request is for: the control plane, or a port of one sandbox. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/message.h"

namespace paddock::api::e2b {

inline constexpr uint16_t kEnvdPort = 49983;

struct Route {
  enum class To {
    control,
    sandbox,     // `id`, `port`
    signed_file  // no sandbox is named: its signature tells
  } to = To::control;
  std::string id;
  uint16_t port = 0;
};

// The domain below which this server's sandboxes are reached as PORT-ID.domain, by the name that
// the client has for the server. `domain`: as in RouteOptions.
std::string domain_of(const net::http::RequestHead& request, std::string_view domain);

// Whose names a request may call this server by: without keys, loopback's own alone.
enum class Hosts { loopback, any };
struct RouteOptions {
  Hosts hosts = Hosts::loopback;
  std::string_view domain = "localhost";  // ports are PORT-ID.domain
};

// By the headers e2b-sandbox-id and -port, else by a host name PORT-ID.domain.
// permission_denied: the Host or Origin of a page that a browser was led here by, where
// only loopback's own names are taken. invalid_argument: an id or port that cannot be.
Result<Route> route(const net::http::RequestHead& request, const RouteOptions& options);

}  // namespace paddock::api::e2b
