// Reading the daemon's answers: HTTP/1.1, bodies with a length, in chunks, or up to the end. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::cmd {

// Bytes of one connection in, one answer out. data_corrupt: it is no answer of a server of ours.
class HttpReply {
 public:
  // Bytes of the body that came with these; empty as long as there are none.
  Result<std::string> feed(std::string_view bytes);
  // The connection has ended. data_corrupt: within the answer.
  Status end();

  bool has_head() const { return status_ != 0; }
  int status() const { return status_; }
  bool is_done() const { return done_; }

 private:
  Status take_head(std::string_view head);
  Status take_field(std::string_view line);
  Result<std::string> take_chunks();
  std::string take_length();

  std::string buffer_;
  int status_ = 0;
  bool chunked_ = false;
  std::optional<uint64_t> left_;  // of the body, or of this chunk
  bool done_ = false;
};

}  // namespace paddock::cmd
