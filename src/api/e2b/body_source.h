// A request's body as it was before its content coding.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "net/http/exchange.h"

namespace paddock::api::e2b {

class BodySource {
 public:
  virtual ~BodySource() = default;
  // At least one byte; 0 at the end.
  virtual Result<size_t> read(net::Task& task, std::span<char> into) = 0;
};

// By Content-Encoding: none, identity or gzip; unsupported otherwise. Used within the exchange's
// life. data_corrupt: no gzip, or one that is cut short.
Result<std::unique_ptr<BodySource>> open_body(net::http::Exchange& exchange);

}  // namespace paddock::api::e2b
