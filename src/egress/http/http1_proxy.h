// One inspected connection of HTTP/1: each request is decided on, bodies stream through both ways
// at once, nothing is kept but what is on its way.
#pragma once

#include <functional>
#include <string>

#include "egress/http/request_guard.h"
#include "egress/http/request_head.h"
#include "net/stream.h"

namespace paddock::egress::http {

struct Http1Connection {
  net::Stream& client;
  std::string client_prefix;  // bytes of the client that were read already
  Scheme scheme;
  // Of the host that the client asked for; dialled for the first request that is let through. The
  // stream outlives the call.
  std::function<Result<net::Stream*>(net::Task&)> upstream;
  RequestGuard& guard;
};

// Until one side ends it. An error: it was broken off, and why.
Status serve_http1(net::Task& task, Http1Connection connection);

}  // namespace paddock::egress::http
