// The stub resolver's sockets: 127.0.0.53, port 53, UDP and TCP.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "agent/denial_log.h"
#include "base/result.h"
#include "sys/epoll.h"
#include "sys/fd.h"

namespace paddock::agent {

// Opened while the agent still has its capabilities; afterwards it only answers. Everything it
// reads is hostile: a datagram costs one answer, a connection one message of bounded length, and
// there are a handful of connections at a time.
class NameServer {
 public:
  static Result<NameServer> open();

  // Each event of the server's descriptors carries `token` plus which of them it is.
  Status watch(sys::Epoll& epoll, uint64_t token);
  void on_event(sys::Epoll& epoll, uint64_t token, uint32_t which, DenialLog& log);
  // Answers the datagrams that wait.
  void drain_datagrams(DenialLog& log);

 private:
  static constexpr size_t kConnections = 8;
  static constexpr uint32_t kDatagrams = 0;
  static constexpr uint32_t kListener = 1;
  static constexpr uint32_t kFirstConnection = 2;

  struct Connection {
    sys::SocketFd socket;
    std::string received;
  };

  NameServer(sys::SocketFd udp, sys::SocketFd tcp) : udp_(std::move(udp)), tcp_(std::move(tcp)) {}
  void accept_connection(sys::Epoll& epoll, uint64_t token);
  void serve(sys::Epoll& epoll, Connection& connection, DenialLog& log);

  sys::SocketFd udp_;
  sys::SocketFd tcp_;
  std::array<Connection, kConnections> connections_;
  size_t next_ = 0;  // the slot that was taken longest ago
};

}  // namespace paddock::agent
