// One output of a command on its way to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "agent/output_ring.h"
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
// granted, so a slow reader blocks the command and nobody else. With a ring everything goes there,
// too, and while it is detached there alone.
class OutputStream {
 public:
  enum class AfterEnd {
    close,  // its writers get SIGPIPE
    drop,   // its writers go on, unheard
  };

  // Where what was read is kept; outlives the stream.
  struct Keep {
    OutputRing* ring = nullptr;
    OutputRing::Output output = OutputRing::Output::standard;
  };

  OutputStream(sys::Fd fd, wire::StreamId stream) : OutputStream(std::move(fd), stream, Keep()) {}
  OutputStream(sys::Fd fd, wire::StreamId stream, Keep keep)
      : fd_(std::move(fd)), stream_(stream), keep_(keep) {}

  const sys::Fd& fd() const { return fd_; }
  wire::StreamId stream() const { return stream_; }
  OutputRing::Output kind() const { return keep_.output; }
  bool has_ended() const { return ended_; }  // and the host, if there is one, was told so

  void on_readable() { readable_ = true; }
  // Moves what there is, a bounded amount; `room` is how much the channel should take on at most.
  // Returns whether there may be more that could be moved at once.
  bool pump(wire::AgentChannel& channel, OutputBudget& budget, size_t room);
  // What is in the pipe now is the rest, whoever else still holds it open.
  void finish(AfterEnd after);
  // There is no host any more: the rest is dropped, its writers go on.
  void mute();
  // There is no host for now: its writers go on, for the ring.
  void detach();
  // There is one again, and has all that the ring has.
  void attach(wire::StreamId stream, wire::AgentChannel& channel);
  // It is over.
  void close() { fd_.reset(); }
  // The host does not want it any more: its writers get SIGPIPE.
  void abandon(wire::AgentChannel& channel);

 private:
  size_t allowance(const wire::AgentChannel& channel, const OutputBudget& budget,
                   size_t room) const;
  void take(wire::AgentChannel& channel, OutputBudget& budget, std::string_view bytes);
  void end(wire::AgentChannel& channel);

  sys::Fd fd_;
  wire::StreamId stream_;  // 0: detached
  Keep keep_;
  bool readable_ = false;
  bool ended_ = false;
  AfterEnd after_end_ = AfterEnd::close;
  std::optional<size_t> rest_;  // bytes until the end, once finish() was called
};

}  // namespace paddock::agent
