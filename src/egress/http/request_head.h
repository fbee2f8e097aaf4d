// The head of an HTTP/1 request.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "egress/http/framing.h"

namespace paddock::egress::http {

enum class Scheme { http, https };

struct RequestHead {
  Request request;
  Body body;
  uint8_t minor_version = 1;  // HTTP/1.x
  bool keeps_alive = true;
  bool expects_continue = false;
  bool upgrades = false;  // to a WebSocket: no other upgrade is let through
  size_t size = 0;        // bytes of the stream that it took
};

// At the start of a stream. nullopt: more must be read. data_corrupt: not a request, or one that
// two programs could understand in two ways. unsupported: CONNECT, an upgrade to something that is
// not a WebSocket. An absolute target must agree with the scheme and the Host header, and is
// shortened to its path.
Result<std::optional<RequestHead>> parse_request_head(std::string_view stream, Scheme scheme);

// As it is sent on. Fields are sent as they are, but Host, which comes first and from `authority`.
std::string serialize(const RequestHead& head);

}  // namespace paddock::egress::http
