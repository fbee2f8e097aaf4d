// One output of a command on its way to a file of the caller: what came and could not be written
// yet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::engine {

// Never blocks: writes what the file takes now. Does not own the caller's descriptor. What it holds
// is bounded by the stream's credit, since credit is given back only for what was written.
class Sink {
 public:
  explicit Sink(int fd);

  void add(std::string_view bytes);
  bool wants_to_write() const { return sent_ < pending_.size() && !closed_; }
  // How many bytes went, 0 when the file is full for now. After an error (EPIPE …) the sink is
  // closed and swallows what comes.
  size_t write_some();
  bool closed() const { return closed_; }
  int fd() const { return own_.is_open() ? own_.get() : fd_; }
  uint64_t written() const { return written_; }

 private:
  // Writes up to `count` bytes without waiting.
  ssize_t write_now(std::string_view bytes) const;

  // How a file is written to without waiting for it.
  enum class How {
    own,      // through a non-blocking description of our own
    regular,  // never waits
    socket,   // says so with each write
    polled,   // when it polls writable, and no more than what then fits
  };

  int fd_;
  How how_ = How::polled;
  // The same file through a non-blocking description of our own: O_NONBLOCK on the caller's would
  // change it for everybody who shares it.
  sys::Fd own_;
  std::string pending_;
  size_t sent_ = 0;  // of those
  bool closed_ = false;
  uint64_t written_ = 0;
};

}  // namespace paddock::engine
