// However the bytes are cut, the same envelopes come out, and what comes out went in.
#include <string>

#include "api/e2b/connect.h"
#include "base/testing/fuzz.h"

namespace {

using namespace paddock::api::e2b;

std::string take_all(std::string_view bytes, size_t step) {
  EnvelopeReader reader(1000);
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += step) {
    reader.add(bytes.substr(at, step));
    while (true) {
      auto next = reader.next();
      if (!next.ok()) return out + "!";
      if (!*next) break;
      out += envelope((*next)->flags, (*next)->message);
    }
  }
  return out;
}

}  // namespace

PD_FUZZ_TARGET(connect) {
  const std::string whole = take_all(bytes, bytes.size() + 1);
  paddock::testing::require(whole == take_all(bytes, 1));
  const std::string_view good = std::string_view(whole).substr(0, whole.find_last_not_of('!') + 1);
  if (whole.empty() || whole.back() != '!') paddock::testing::require(bytes.starts_with(good));
}
