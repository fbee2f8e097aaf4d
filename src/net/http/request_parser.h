// Bytes to HTTP/1.1 requests. Pure. The only unit that sees Boost.Beast is behind it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/message.h"

namespace paddock::net::http {

// One request: first its head, then its body piece by piece. Strict where requests are smuggled: a
// message with two framings, an unknown transfer coding, a control character or a space in a name
// is an error, and so is a target that is not in origin form.
class RequestParser {
 public:
  static constexpr uint32_t kMaxHead = 64u << 10;
  static constexpr size_t kMaxFields = 128;

  RequestParser();
  ~RequestParser();

  // Takes from the front of `bytes` what belongs to the head and returns how much that was; less
  // than all when the head has ended. data_corrupt: not HTTP. resource_exhausted: too large.
  Result<size_t> take_head(std::string_view bytes);
  bool has_head() const;
  // Precondition: has_head().
  const RequestHead& head() const;
  // Of the message; nullopt with chunked coding.
  std::optional<uint64_t> content_length() const;
  bool keep_alive() const;

  // The same for the body; what it carries is appended to `body`.
  struct Piece {
    size_t taken = 0;
    std::string data;
  };
  Result<Piece> take_body(std::string_view bytes);
  // Nothing of the message is missing.
  bool is_done() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paddock::net::http
