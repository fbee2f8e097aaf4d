// One output of a command on its way to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sys/fd.h"
#include "wire/channel.h"

namespace paddock::agent {

// What a command may still write, all its outputs together.
struct OutputBudget {
  std::optional<uint64_t> left;  // nullopt: no limit
  bool exceeded = false;         // it wrote more than that; the excess was dropped
};

// Owns the reading end of a pipe, or a terminal's master, non-blocking and watched with EPOLLET:
// on_readable() notes that there is something, pump() takes it. Reads no more than the host has
// granted, so a slow reader blocks the command and nobody else.
class OutputStream {
 public:
  enum class AfterEnd {
    close,  // its writers get SIGPIPE
    drop,   // its writers go on, unheard
  };

  OutputStream(sys::Fd fd, wire::StreamId stream) : fd_(std::move(fd)), stream_(stream) {}

  const sys::Fd& fd() const { return fd_; }
  wire::StreamId stream() const { return stream_; }
  bool has_ended() const { return ended_; }  // the host was told so

  void on_readable() { readable_ = true; }
  // Moves what there is, a bounded amount; `room` is how much the channel should take on at most.
  // Returns whether there may be more that could be moved at once.
  bool pump(wire::AgentChannel& channel, OutputBudget& budget, size_t room);
  // What is in the pipe now is the rest, whoever else still holds it open.
  void finish(AfterEnd after);
  // There is no host any more: the rest is dropped, its writers go on.
  void mute();
  // The host does not want it any more: its writers get SIGPIPE.
  void abandon(wire::AgentChannel& channel);

 private:
  size_t allowance(const wire::AgentChannel& channel, const OutputBudget& budget,
                   size_t room) const;
  void take(wire::AgentChannel& channel, OutputBudget& budget, std::string_view bytes);
  void end(wire::AgentChannel& channel);

  sys::Fd fd_;
  wire::StreamId stream_;
  bool readable_ = false;
  bool ended_ = false;
  AfterEnd after_end_ = AfterEnd::close;
  std::optional<size_t> rest_;  // bytes until the end, once finish() was called
};

}  // namespace paddock::agent
