// What the host connects to inside: ports of programs, each connection carried over a stream.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "agent/connection.h"
#include "sys/epoll.h"
#include "sys/fd.h"
#include "wire/agent.pb.h"
#include "wire/channel.h"

namespace paddock::agent {

// Owns the sockets, at most wire::kMaxForwards. Lives in the agent's loop. Its events carry `token`
// plus a number.
class WayIn {
 public:
  // What it works with; outlives it.
  struct Loop {
    sys::Epoll& epoll;
    wire::AgentChannel& channel;
    uint64_t token;
  };
  explicit WayIn(const Loop& loop) : loop_(loop) {}

  // Connects to the port on 127.0.0.1, or on ::1 where only that listens. The request is answered
  // once that has succeeded (Done) or failed (Failure); its stream is aborted then.
  void connect(uint64_t request, const wire::Forward& forward);

  void on_event(uint32_t which);
  bool owns(wire::StreamId stream) const { return streams_.contains(stream); }
  void on_stream(const wire::StreamData& data);
  void on_stream(const wire::StreamEnd& end);
  void on_stream(const wire::StreamReset& reset);
  void on_stream(const wire::StreamAbort& abort);
  void on_stream(const wire::CreditGained& credit);
  // Nobody carries any more: all are reset.
  void on_host_gone();

  // Moves bytes, `room` at most into the channel. Returns whether more could be moved at once.
  bool pump(size_t room);

 private:
  using Id = uint32_t;
  // connecting → carried → over, or from either: over
  struct Door {
    explicit Door(sys::SocketFd socket) : connection(std::move(socket)) {}

    Connection connection;
    uint64_t request = 0;
    uint16_t port = 0;
    bool second = false;                  // the other address is being tried
    std::unique_ptr<AgentStream> stream;  // until it is connected
    wire::StreamId stream_id = 0;
  };

  Status dial(Door& door, Id id);
  void on_connected(Id id, Door& door);
  void fail(Id id, const Error& error);
  AgentStream* wake(wire::StreamId stream);
  bool pump_one(Id id, size_t room);
  void end(Id id);

  Loop loop_;
  std::map<Id, Door> doors_;
  std::map<wire::StreamId, Id> streams_;
  std::set<Id> ready_;
  Id last_id_ = 0;
  Id last_pumped_ = 0;
};

}  // namespace paddock::agent
