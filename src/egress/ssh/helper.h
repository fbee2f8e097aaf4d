// A running paddock-ssh, and both of its streams.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "net/event.h"
#include "net/socket_stream.h"
#include "sys/child.h"
#include "wire/ssh_frame.h"

namespace paddock::egress::ssh {

// Used on its loop's thread, which it must not outlive; one coroutine may read while another
// writes. Destroying it kills the process: stop() comes first, so that its pump has ended.
class Helper {
 public:
  // `side`: "serve" or "dial". `peer` carries the ssh connection, and outlives the helper. `agent`:
  // where it may ask for signatures, if it is open.
  // not_found: the program is not installed.
  static Result<std::unique_ptr<Helper>> start(net::Loop& loop, const std::string& program,
                                               const std::string& side, net::Stream& peer,
                                               sys::Fd agent = {});

  // nullopt: the helper has ended. An error frame of it comes back as the error that it is.
  Result<std::optional<wire::SshFrame>> read(net::Task& task);
  // timed_out: nothing came.
  Result<wire::SshFrame> read_within(net::Task& task, std::chrono::milliseconds patience);
  // In pieces, when it is data.
  Status write(net::Task& task, wire::SshFrameKind kind, std::string_view payload);
  // Waits for it to end by itself, for a while, and for its pump; aborts the peer if need be.
  void stop(net::Task& task, std::chrono::milliseconds patience);
  // A read that waits fails; nothing is lost.
  void cancel_reads() { frames_.cancel_waits(); }
  // At once; reads and writes that wait fail.
  void abort();

 private:
  Helper(net::Loop& loop, sys::SocketFd wire, sys::SocketFd frames, net::Stream& peer);
  void begin_pump(net::Loop& loop);

  net::Stream& peer_;
  net::SocketStream wire_;
  net::SocketStream frames_;
  net::Event pumped_;
  std::string incoming_;
  sys::Process process_;
};

}  // namespace paddock::egress::ssh
