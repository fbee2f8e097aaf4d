// One request of our own, and its response as a whole. For small answers; what a sandbox asks for
// streams through the proxies.
#pragma once

#include <functional>
#include <string>

#include "egress/http/message.h"
#include "net/stream.h"

namespace paddock::egress::http {

struct Asked {
  Request request;
  uint64_t body_size = 0;
  // Some bytes of the body more; called until `body_size` bytes have come. May be empty.
  std::function<Result<std::string>()> body{};
  size_t answer_limit = 1u << 20;
};

struct Answered {
  Response response;
  std::string body;
};

// Over HTTP/1.1; the stream is of no more use afterwards. An answer that comes before the whole
// request was taken is one, too.
Result<Answered> ask(net::Task& task, net::Stream& stream, Asked asked);

}  // namespace paddock::egress::http
