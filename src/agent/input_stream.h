// Standard input of a command on its way from the host.
#pragma once

#include <string>
#include <string_view>

#include "sys/fd.h"
#include "wire/channel.h"

namespace paddock::agent {

// Owns the writing end of a pipe, or a terminal's master, non-blocking and watched with EPOLLET.
// Keeps what the command has not read yet, which the host's credit bounds.
class InputStream {
 public:
  enum class Kind {
    pipe,      // the host's end closes it
    terminal,  // has no end: an end-of-file key is a byte like any other
  };

  InputStream(sys::Fd fd, wire::StreamId stream, Kind kind)
      : fd_(std::move(fd)), stream_(stream), kind_(kind) {}

  const sys::Fd& fd() const { return fd_; }
  wire::StreamId stream() const { return stream_; }

  void on_data(std::string_view bytes) {
    if (!has_unwritten()) {
      pending_.clear();
      written_ = 0;
    }
    pending_.append(bytes);
  }
  void on_end() { ended_ = true; }
  void on_writable() { writable_ = true; }
  // Whether the host may still write, and the command still read.
  bool is_open() const { return fd_.is_open() && !ended_; }
  // Another host writes from now on, over `stream`; 0: nobody for now, and the command waits.
  void attach(wire::StreamId stream, wire::AgentChannel& channel);
  // Writes what the command takes.
  void pump(wire::AgentChannel& channel);

 private:
  sys::Fd fd_;
  wire::StreamId stream_;
  Kind kind_;
  bool has_unwritten() const { return written_ < pending_.size(); }

  std::string pending_;
  size_t written_ = 0;     // of those
  size_t uncredited_ = 0;  // of those not written: they came over another stream
  bool ended_ = false;
  bool writable_ = true;
};

}  // namespace paddock::agent
