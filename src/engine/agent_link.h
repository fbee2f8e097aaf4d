// The host's end of the stream to one agent: wire::HostChannel over a non-blocking descriptor.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/fd.h"
#include "wire/channel.h"

namespace paddock::engine {

// Bytes on their way to the agent beyond which nothing more of it is heard: what it asks for is
// answered, and an agent that asks and does not listen must not fill our memory.
inline constexpr size_t kMaxAgentBacklog = 2u << 20;

// Does not own the descriptor. Used by one thread. Any error means that the agent cannot be trusted
// or reached any more: destroy the sandbox.
class AgentLink {
 public:
  explicit AgentLink(const sys::SocketFd& stream) : stream_(stream) {}

  wire::HostChannel& channel() { return channel_; }

  // Writes what can be written without waiting.
  Status flush();
  // Reads once, without waiting. unavailable when the stream has ended.
  Status fill();
  bool wants_to_write() const { return !channel_.output().empty(); }

  // Sends and waits for the message that answers it. For set-up only: no stream is open yet, and
  // whatever else comes meanwhile is a violation. timed_out after `timeout_ms`.
  Result<wire::ToHost> call(wire::ToAgent message, int timeout_ms);
  // The next message, whatever it answers.
  Result<wire::ToHost> next_message(int timeout_ms);
  // Numbers and queues without waiting. invalid_argument: longer than the agent takes.
  Status post(wire::ToAgent message);
  // The number that the next posted message gets.
  uint64_t next_request() const { return last_request_ + 1; }

 private:
  const sys::SocketFd& stream_;
  wire::HostChannel channel_;
  uint64_t last_request_ = 0;
};

}  // namespace paddock::engine
