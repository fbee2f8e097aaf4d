// multipart/form-data as browsers and undici send it (RFC 7578), piece by piece. Pure.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace paddock::api::e2b {

struct PartBegin {
  std::string name;
  std::string file_name;  // as it stands there, slashes included
};
struct PartData {
  std::string bytes;  // never empty
};
struct PartEnd {};
using PartEvent = std::variant<PartBegin, PartData, PartEnd>;

// The boundary of a content type; invalid_argument when it has none or an impossible one.
Result<std::string> boundary_of(std::string_view content_type);

// What it keeps is bounded: a part's headers, and as much data as a boundary is long.
class MultipartParser {
 public:
  static constexpr size_t kMaxHeaders = 16u << 10;
  static constexpr size_t kMaxParts = 10'000;

  explicit MultipartParser(const std::string& boundary);

  // invalid_argument: not what the boundary promised.
  Result<std::vector<PartEvent>> feed(std::string_view bytes);
  // The last boundary has come; what follows is ignored.
  bool is_done() const { return state_ == State::done; }

 private:
  enum class State { preamble, after_delimiter, headers, data, done };

  // Each takes what it can from buffer_; false: more bytes are needed.
  Result<bool> step(std::vector<PartEvent>& events);
  Result<bool> skip_preamble();
  Result<bool> after_delimiter();
  Result<bool> take_headers(std::vector<PartEvent>& events);
  Result<bool> take_data(std::vector<PartEvent>& events);

  std::string delimiter_;  // "\r\n--boundary"
  std::string buffer_;
  State state_ = State::preamble;
  size_t parts_ = 0;
};

}  // namespace paddock::api::e2b
