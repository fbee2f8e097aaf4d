// The signed chunks of AWS uploads (content coding aws-chunked with
// STREAMING-AWS4-HMAC-SHA256-PAYLOAD): each chunk's signature covers the one before, so all are
// made again after the head's was.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "egress/credentials/sigv4.h"

namespace paddock::egress {

// One body, one thread. Holds one chunk at a time: its signature stands before its data.
class AwsChunkSigner {
 public:
  static constexpr size_t kMaxChunk = 16u << 20;

  explicit AwsChunkSigner(SigV4Signature seed) : seed_(std::move(seed)), previous_(seed_.hex) {}

  // Appends what may be sent. data_corrupt: not such chunks; resource_exhausted: one too large.
  Status feed(std::string_view bytes, std::string& out);
  bool finished() const { return state_ == State::finished; }

 private:
  enum class State { header, data, trailers, finished };

  Result<bool> take_header();
  Result<bool> take_data(std::string& out);
  Result<bool> take_trailers(std::string& out);
  std::string sign(std::string_view kind, std::string_view covered);

  SigV4Signature seed_;
  std::string previous_;
  std::string pending_;
  size_t chunk_ = 0;
  State state_ = State::header;
};

}  // namespace paddock::egress
