// However the bytes are cut, the same parts come out.
#include <string>

#include "api/e2b/multipart.h"
#include "base/testing/fuzz.h"

namespace {

using namespace paddock::api::e2b;

std::string take_all(std::string_view bytes, size_t step) {
  MultipartParser parser("----formdata-undici-073957386694");
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += step) {
    auto events = parser.feed(bytes.substr(at, step));
    if (!events.ok()) return "!";  // what came before depends on how much was there
    for (const PartEvent& event : *events) {
      if (auto* begin = std::get_if<PartBegin>(&event)) {
        out += "<" + begin->name + ":" + begin->file_name + ">";
      } else if (auto* data = std::get_if<PartData>(&event)) {
        out += data->bytes;
      } else {
        out += "</>";
      }
    }
  }
  return out + (parser.is_done() ? "." : "");
}

}  // namespace

PD_FUZZ_TARGET(multipart) {
  paddock::testing::require(take_all(bytes, bytes.size() + 1) == take_all(bytes, 3));
  (void)boundary_of(bytes).ok();
}
