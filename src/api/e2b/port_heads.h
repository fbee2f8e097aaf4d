// Heads of requests and responses on their way to and from a port of a sandbox. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "egress/http/response_head.h"
#include "net/http/message.h"

namespace paddock::api::e2b {

// What the program sees as Host: the mask, in which "${PORT}" expands, else what was asked for.
std::string host_inside(const std::string& mask, std::string_view asked, uint16_t port);

struct PassedHead {
  std::string text;  // as it is sent inside
  // How the body follows.
  enum class Body { none, sized, chunked } body = Body::none;
  bool upgrades = false;
};
struct PassOptions {
  std::string host;                   // what the program sees
  std::vector<std::string> withheld;  // values of x-access-token that it does not
  std::string_view scheme = "http";   // the client's
};
// Without fields that are of the connection, not of the message (RFC 9110 section 7.6.1), and those
// that led the request here; with X-Forwarded-*.
PassedHead pass_request(const net::http::RequestHead& request, const PassOptions& options);

// Without what is of the connection and what frames the body; of a switch of protocols with what
// that needs.
net::http::Response pass_response(const egress::http::ResponseHead& head);

}  // namespace paddock::api::e2b
