// One inspected connection of HTTP/2: each request is decided on in a coroutine of its own,
// responses (gRPC's trailers and interim heads included) go back as they come, and each side's flow
// control reaches through to the other.
#pragma once

#include <string>

#include "egress/http/request_guard.h"
#include "egress/http/request_head.h"
#include "net/stream.h"

namespace paddock::egress::http {

struct Http2Connection {
  net::Stream& client;
  std::string client_prefix;  // bytes of the client that were read already
  net::Stream& upstream;      // has agreed to HTTP/2
  Scheme scheme;
  RequestGuard& guard;
};

// Until one side ends it. An error: it was broken off, and why.
Status serve_http2(net::Task& task, Http2Connection connection);

}  // namespace paddock::egress::http
