// The way out of a sandbox, where Setup gave it one: connections of its programs, by TCP or to a
// socket of the host, carried to the host.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "agent/asker.h"
#include "agent/connection.h"
#include "agent/denial_log.h"
#include "base/result.h"
#include "sys/epoll.h"
#include "sys/fd.h"
#include "wire/channel.h"

namespace paddock::agent {

// Owns the listeners that redirected connections, clients of the proxy and of the host's sockets
// come to, and those connections, of which there are at most wire::kMaxConnections: one more is
// reset at once. Lives in the agent's loop. Its events carry `token` plus a number.
class WayOut {
 public:
  // What it works with; outlives it.
  struct Loop {
    sys::Epoll& epoll;
    wire::AgentChannel& channel;
    DenialLog& log;
    AskerFinder& askers;
    uint64_t token;
  };
  explicit WayOut(const Loop& loop);

  // Opens the listeners. While the agent still has CAP_NET_BIND_SERVICE.
  Status open(wire::Egress::Form form);
  // Listens for programs that connect to one of so many sockets of the host. While the agent may
  // still write to /run.
  Status open_sockets(uint32_t count);

  void on_event(uint32_t which);
  void on_answer(const wire::ConnectAnswer& answer);
  bool owns(wire::StreamId stream) const { return streams_.contains(stream); }
  void on_stream(const wire::StreamData& data);
  void on_stream(const wire::StreamEnd& end);
  void on_stream(const wire::StreamReset& reset);
  void on_stream(const wire::StreamAbort& abort);
  void on_stream(const wire::CreditGained& credit);
  // Nobody answers or carries any more: all are reset, as is what comes later.
  void on_host_gone();
  void on_host_back() { host_gone_ = false; }

  // Moves bytes, `room` at most into the channel. Returns whether more could be moved at once.
  bool pump(size_t room);

 private:
  using Id = uint32_t;  // of a connection: its query's number, too
  enum class Serves { redirected, proxy, socket };
  struct Listener {
    sys::SocketFd socket;
    Serves serves;
    uint32_t number = 0;  // of the host's socket
  };

  Status watch(Listener listener);
  void accept_some(const Listener& listener);
  void take_in(const Listener& listener, sys::SocketFd socket);
  void take_in_redirected(Connection connection);
  void take_in_local(uint32_t number, Connection connection);
  bool is_full() const;
  void keep(Id id, Connection connection);
  void greet(Id id, Connection& connection);
  void ask(Id id, wire::ConnectQuery query);
  bool pump_one(Id id, size_t room);
  Id next_id();
  AgentStream* wake(wire::StreamId stream);
  void end(Id id);

  Loop loop_;
  size_t most_;    // connections
  sys::Fd spare_;  // a descriptor to take a connection with when there is none left
  bool host_gone_ = false;
  std::vector<Listener> listeners_;
  std::map<Id, Connection> connections_;
  std::map<wire::StreamId, Id> streams_;
  std::set<Id> ready_;  // something happened to them
  Id last_id_ = 0;
  Id last_pumped_ = 0;
};

}  // namespace paddock::agent
