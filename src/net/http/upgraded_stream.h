// A client's connection after it has left HTTP.
#pragma once

#include "net/http/input_buffer.h"
#include "net/stream.h"

namespace paddock::net::http {

// Reads what the client has sent behind its request, which `input` goes on reading for it. Of the
// connection's life; owns nothing.
class UpgradedStream : public Stream {
 public:
  UpgradedStream(Stream& stream, InputBuffer& input) : stream_(stream), input_(input) {}

  Result<size_t> read(Task& task, std::span<char> into) override;
  Status wait_readable(Task& task) override;
  Status write(Task& task, std::string_view bytes) override { return stream_.write(task, bytes); }
  Status end_writing(Task& task) override { return stream_.end_writing(task); }
  void abort() override { stream_.abort(); }

 private:
  Stream& stream_;
  InputBuffer& input_;
};

}  // namespace paddock::net::http
