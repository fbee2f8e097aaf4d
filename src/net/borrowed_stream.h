// A stream that somebody else owns, for what wants to own the one below it.
#pragma once

#include "net/stream.h"

namespace paddock::net {

class BorrowedStream : public Stream {
 public:
  explicit BorrowedStream(Stream& stream) : stream_(stream) {}

  Result<size_t> read(Task& task, std::span<char> into) override {
    return stream_.read(task, into);
  }
  Status wait_readable(Task& task) override { return stream_.wait_readable(task); }
  Status write(Task& task, std::string_view bytes) override { return stream_.write(task, bytes); }
  Status end_writing(Task& task) override { return stream_.end_writing(task); }
  void abort() override { stream_.abort(); }

 private:
  Stream& stream_;
};

}  // namespace paddock::net
