// One connection of a program, from its acceptance to its end.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sys/fd.h"
#include "wire/agent.pb.h"
#include "wire/carried_stream.h"
#include "wire/proxy_request.h"

namespace paddock::agent {

using AgentStream = wire::CarriedStream<wire::AgentChannel>;

// Owns the program's socket, non-blocking and watched with EPOLLET.
//
//   (greeting, to the proxy only) → asked → carried → over, or from anywhere: over
//
// Keeps no more than a proxy's greeting and what the stream's credit allows.
class Connection {
 public:
  explicit Connection(sys::SocketFd socket) : socket_(std::move(socket)) {}

  const sys::SocketFd& socket() const { return socket_; }

  // ---- a client of the proxy: where does it want to go?
  void expect_greeting() { greeting_.emplace(); }
  bool is_greeting() const { return greeting_ && !destination_; }
  // Reads; the destination once it is there. A client that speaks no proxy's protocol is over.
  std::optional<wire::ProxyDestination> read_greeting();

  // ---- the host's answer
  void refuse(const std::string& reason);
  void carry(std::unique_ptr<AgentStream> stream);

  // ---- what happens
  void on_ready() { readable_ = writable_ = true; }
  AgentStream* stream() { return stream_.get(); }
  wire::StreamId stream_id() const { return stream_id_; }  // 0: never carried
  void on_stream_abort();
  // Breaks it off: the program sees a reset.
  void reset();

  // Moves bytes, a bounded amount; `room` is how much the channel should take on at most. Returns
  // whether there may be more that could be moved, given room.
  bool pump(size_t room);
  bool is_over() const { return !socket_.is_open(); }

 private:
  void say(std::string_view text);
  void write_out();
  bool read_in(size_t room);

  sys::SocketFd socket_;
  std::optional<wire::ProxyGreeting> greeting_;
  std::optional<wire::ProxyDestination> destination_;
  std::unique_ptr<AgentStream> stream_;
  wire::StreamId stream_id_ = 0;
  bool readable_ = true;
  bool writable_ = true;
};

}  // namespace paddock::agent
