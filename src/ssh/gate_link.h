// The gate's end of things: frames on an inherited socket, without blocking once the talk has
// begun.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/fd.h"
#include "wire/ssh_frame.h"

namespace paddock::ssh {

// One thread. Every failure is an error that means: the gate is gone, or speaks nonsense.
class GateLink {
 public:
  explicit GateLink(sys::Fd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  // Blocking, for the one frame that comes first.
  Result<wire::SshFrame> wait_frame();
  // From then on: reads what is there.
  Status fill();
  Result<std::optional<wire::SshFrame>> next() { return wire::take_ssh_frame(incoming_); }

  void queue(wire::SshFrameKind kind, std::string_view payload) {
    outgoing_ += wire::encode_ssh_frame(kind, payload);
  }
  // Writes what goes.
  Status flush();
  // Blocking.
  Status flush_all();
  size_t queued() const { return outgoing_.size(); }

 private:
  sys::Fd fd_;
  std::string incoming_, outgoing_;
};

}  // namespace paddock::ssh
