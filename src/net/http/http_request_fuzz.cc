// However the bytes are cut, the parser says the same.
#include <string>

#include "base/testing/fuzz.h"
#include "net/http/request_parser.h"

namespace {

struct Outcome {
  bool failed = false;
  bool done = false;
  std::string target;
  std::string body;
  bool operator==(const Outcome&) const = default;
};

// Feeds `step` more bytes at a time, as a connection does: what was not taken is offered again.
Outcome parse(std::string_view bytes, size_t step) {
  paddock::net::http::RequestParser parser;
  Outcome outcome;
  size_t taken = 0;
  for (size_t end = 0; end < bytes.size() && !parser.is_done();) {
    end = std::min(end + step, bytes.size());
    while (taken < end && !parser.is_done()) {
      const std::string_view offered = bytes.substr(taken, end - taken);
      size_t count = 0;
      if (!parser.has_head()) {
        auto head = parser.take_head(offered);
        if (!head.ok()) return {.failed = true};
        count = *head;
      } else {
        auto piece = parser.take_body(offered);
        if (!piece.ok()) return {.failed = true};
        count = piece->taken;
        outcome.body += piece->data;
      }
      paddock::testing::require(count <= offered.size());
      taken += count;
      if (count == 0) break;
    }
  }
  outcome.done = parser.is_done();
  if (parser.has_head()) outcome.target = parser.head().target;
  return outcome;
}

}  // namespace

PD_FUZZ_TARGET(http_request) {
  const Outcome whole = parse(bytes, bytes.size() + 1);
  const Outcome cut = parse(bytes, 7);
  // A head that never ends may be refused earlier when it comes whole.
  if (whole.done && !whole.failed) paddock::testing::require(cut == whole);
}
