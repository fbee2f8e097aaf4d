// The chunked coding of HTTP/1 bodies: taken apart on one side, put together again on the other, so
// that no reading of its lines is left to the peer.
#pragma once

#include <string>
#include <string_view>

#include "egress/http/framing.h"

namespace paddock::egress::http {

// Decodes as bytes come. Owned by one thread.
class ChunkedDecoder {
 public:
  struct Step {
    std::string_view data;  // of the body, inside the bytes given
    size_t used = 0;        // bytes taken of those given
  };

  // Takes what it can of `bytes`: at most one run of data a call. used == 0 with bytes left means
  // that a line is not whole yet: call again with more behind. data_corrupt: not chunked as RFC
  // 9112 has it.
  Result<Step> next(std::string_view bytes);

  bool finished() const { return state_ == State::finished; }
  // Once finished.
  const Fields& trailers() const { return trailers_; }

 private:
  enum class State { size_line, data, data_end, trailers, finished };

  Result<Step> take_size_line(std::string_view bytes);
  Result<Step> take_data_end(std::string_view bytes);
  Result<Step> take_trailers(std::string_view bytes);

  State state_ = State::size_line;
  uint64_t left_ = 0;
  Fields trailers_;
};

// One chunk; empty data gives nothing, since an empty chunk ends the body.
std::string chunk_of(std::string_view data);
std::string last_chunk(const Fields& trailers);

}  // namespace paddock::egress::http
