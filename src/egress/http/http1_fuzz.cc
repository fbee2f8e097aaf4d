// Heads and chunks of HTTP/1: what is accepted is read the same after it is sent on, and when it
// comes in pieces.
#include "base/testing/fuzz.h"
#include "egress/http/chunked.h"
#include "egress/http/request_head.h"
#include "egress/http/response_head.h"

namespace paddock::egress::http {
namespace {

using paddock::testing::require;

void check_request(std::string_view bytes) {
  auto head = parse_request_head(bytes, Scheme::http);
  if (!head.ok() || !head->has_value()) return;
  require((*head)->size <= bytes.size());
  require(
      !parse_request_head(bytes.substr(0, (*head)->size - 1), Scheme::http).value().has_value());
  const std::string sent = serialize(**head);
  auto again = parse_request_head(sent, Scheme::http);
  require(again.ok() && again->has_value() && (*again)->size == sent.size());
  require(serialize(**again) == sent);
  require((*again)->body.kind == (*head)->body.kind && (*again)->body.size == (*head)->body.size);
  require((*again)->request.target == (*head)->request.target);
}

void check_response(std::string_view bytes) {
  auto head = parse_response_head(bytes, "GET");
  if (!head.ok() || !head->has_value()) return;
  const std::string sent = serialize(**head);
  auto again = parse_response_head(sent, "GET");
  require(again.ok() && again->has_value() && (*again)->size == sent.size());
  require((*again)->body.kind == (*head)->body.kind && (*again)->body.size == (*head)->body.size);
}

void check_chunks(std::string_view bytes) {
  ChunkedDecoder decoder;
  while (!decoder.finished()) {
    auto step = decoder.next(bytes);
    if (!step.ok() || step->used == 0) return;
    require(step->used <= bytes.size());
    bytes.remove_prefix(step->used);
  }
}

}  // namespace
}  // namespace paddock::egress::http

PD_FUZZ_TARGET(http1) {
  paddock::egress::http::check_request(bytes);
  paddock::egress::http::check_response(bytes);
  paddock::egress::http::check_chunks(bytes);
}
