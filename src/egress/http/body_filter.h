// What happens to the bytes of a body on their way.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "egress/http/message.h"

namespace paddock::egress::http {

// One body. Keeps its length.
class BodyFilter {
 public:
  virtual ~BodyFilter() = default;
  // Appends what may be passed on; an error ends the message.
  virtual Status feed(std::string_view bytes, std::string& out) = 0;
  virtual Status finish(std::string& out) = 0;
  // Behind the body.
  virtual Status see_trailers(Fields& trailers) = 0;
};

}  // namespace paddock::egress::http
