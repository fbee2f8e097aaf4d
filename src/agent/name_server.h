// The stub resolver's sockets: 127.0.0.53, port 53, UDP and TCP.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/denial_log.h"
#include "agent/name_queries.h"
#include "base/result.h"
#include "sys/epoll.h"
#include "sys/fd.h"

namespace paddock::agent {

// Opened while the agent still has its capabilities; afterwards it only answers: by itself, or,
// once ask_through() said whom, what the host says. Everything it reads is hostile: a datagram
// costs one answer, a connection one message of bounded length, and there are a handful of
// connections at a time.
class NameServer {
 public:
  static Result<NameServer> open();
  // The host is asked for names. Outlives this.
  void ask_through(NameQueries& queries) { queries_ = &queries; }

  // Each event of the server's descriptors carries `token` plus which of them it is.
  Status watch(sys::Epoll& epoll, uint64_t token);
  void on_event(sys::Epoll& epoll, uint64_t token, uint32_t which, DenialLog& log);
  // Answers the datagrams that wait.
  void drain_datagrams(DenialLog& log);
  void on_answer(const wire::NameAnswer& answer);

 private:
  static constexpr size_t kConnections = 8;
  static constexpr uint32_t kDatagrams = 0;
  static constexpr uint32_t kListener = 1;
  static constexpr uint32_t kFirstConnection = 2;

  struct Connection {
    sys::SocketFd socket;
    std::string received;
    uint64_t number = 0;  // never used again
    bool asked = false;   // its one message was taken
  };

  NameServer(sys::SocketFd udp, sys::SocketFd tcp) : udp_(std::move(udp)), tcp_(std::move(tcp)) {}
  void accept_connection(sys::Epoll& epoll, uint64_t token);
  void serve(sys::Epoll& epoll, Connection& connection, DenialLog& log);
  // Answers, or has the host asked and returns no answer.
  std::string take(std::string_view message, WaitingResolver from, DenialLog& log);
  void reply(const WaitingResolver& to, const std::string& message);

  sys::SocketFd udp_;
  sys::SocketFd tcp_;
  std::array<Connection, kConnections> connections_;
  size_t next_ = 0;  // the slot that was taken longest ago
  uint64_t accepted_ = 0;
  NameQueries* queries_ = nullptr;
};

}  // namespace paddock::agent
