// The head of an HTTP/1 response.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "egress/http/framing.h"

namespace paddock::egress::http {

struct ResponseHead {
  Response response;
  Body body;
  uint8_t minor_version = 1;
  bool keeps_alive = true;
  bool interim = false;  // 1xx but 101: another head follows
  size_t size = 0;
};

// At the start of a stream. The request's method says whether a body follows. nullopt: more must be
// read. data_corrupt as for requests.
Result<std::optional<ResponseHead>> parse_response_head(std::string_view stream,
                                                        std::string_view request_method);

std::string serialize(const ResponseHead& head);

}  // namespace paddock::egress::http
