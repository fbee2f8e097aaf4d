// The body of a message as it comes in, without its framing.
#pragma once

#include <string>

#include "base/result.h"
#include "egress/http/message.h"
#include "net/task.h"

namespace paddock::egress::http {

// One body, read by one coroutine at a time.
class BodySource {
 public:
  virtual ~BodySource() = default;

  // Some bytes more; empty at its end. Whoever looked at bytes and does not keep them gives them
  // back by unread(), at most once in a row.
  Result<std::string> read(net::Task& task) {
    if (pushed_back_.empty()) return read_some(task);
    return std::exchange(pushed_back_, {});
  }
  void unread(std::string bytes) { pushed_back_ = std::move(bytes); }
  // Of a chunked or HTTP/2 body, at its end.
  virtual const Fields& trailers() const = 0;

 private:
  virtual Result<std::string> read_some(net::Task& task) = 0;

  std::string pushed_back_;
};

}  // namespace paddock::egress::http
