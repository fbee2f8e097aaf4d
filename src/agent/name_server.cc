#include "agent/name_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "agent/dns_stub.h"

namespace paddock::agent {
namespace {

constexpr size_t kMaxQuery =
    1232;  // what resolvers send without fragmentation, and more than a name
constexpr int kDatagramsAtATime = 256;  // about what the socket holds

Result<sys::SocketFd> open_bound(int type) {
  sys::SocketFd socket(::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return Error::from_errno(errno, "opening the resolver's socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(53);
  address.sin_addr.s_addr = htonl(0x7f000035);
  // SAFETY: every socket address is passed as a sockaddr.
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      (type == SOCK_STREAM && ::listen(socket.get(), 16) != 0)) {
    return Error::from_errno(errno, "binding the resolver to 127.0.0.53 port 53");
  }
  return socket;
}

void note(DenialLog& log, const std::string& name) {
  if (!name.empty()) log.note({.kind = wire::Denied::NAME, .what = name}, 1);
}

}  // namespace

Result<NameServer> NameServer::open() {
  sys::SocketFd udp = PD_TRY(open_bound(SOCK_DGRAM));
  sys::SocketFd tcp = PD_TRY(open_bound(SOCK_STREAM));
  return NameServer(std::move(udp), std::move(tcp));
}

Status NameServer::watch(sys::Epoll& epoll, uint64_t token) {
  PD_TRY(epoll.add(udp_, EPOLLIN, token + kDatagrams));
  return epoll.add(tcp_, EPOLLIN, token + kListener);
}

void NameServer::on_event(sys::Epoll& epoll, uint64_t token, uint32_t which, DenialLog& log) {
  if (which == kDatagrams) {
    drain_datagrams(log);
  } else if (which == kListener) {
    accept_connection(epoll, token);
  } else if (which - kFirstConnection < kConnections) {
    serve(epoll, connections_[which - kFirstConnection], log);
  }
}

void NameServer::drain_datagrams(DenialLog& log) {
  for (int i = 0; i < kDatagramsAtATime; ++i) {
    std::array<char, kMaxQuery> buffer;
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    // SAFETY: every socket address is passed as a sockaddr.
    auto* address = reinterpret_cast<sockaddr*>(&from);
    const ssize_t n = ::recvfrom(udp_.get(), buffer.data(), buffer.size(), 0, address, &size);
    if (n < 0) return;
    const auto answer = answer_query({buffer.data(), static_cast<size_t>(n)});
    if (!answer) continue;
    note(log, answer->refused_name);
    (void)::sendto(udp_.get(), answer->message.data(), answer->message.size(), 0, address, size);
  }
}

void NameServer::accept_connection(sys::Epoll& epoll, uint64_t token) {
  sys::SocketFd socket(::accept4(tcp_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.is_open()) return;
  const size_t slot = next_++ % kConnections;
  Connection& connection = connections_[slot];
  epoll.remove(connection.socket);  // whoever was there has had its time
  connection = {.socket = std::move(socket), .received = {}};
  if (!epoll.add(connection.socket, EPOLLIN, token + kFirstConnection + slot).ok()) connection = {};
}

// One message with its length in front, one answer, end (RFC 7766 lets a server close).
void NameServer::serve(sys::Epoll& epoll, Connection& connection, DenialLog& log) {
  if (!connection.socket.is_open()) return;
  std::array<char, kMaxQuery> buffer;
  const ssize_t n = ::recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
  if (n < 0 && errno == EAGAIN) return;
  std::string& received = connection.received;
  if (n > 0) received.append(buffer.data(), static_cast<size_t>(n));
  const size_t wanted = received.size() < 2 ? 2
                                            : 2 + (static_cast<uint8_t>(received[0]) << 8) +
                                                  static_cast<uint8_t>(received[1]);
  if (n > 0 && received.size() < wanted && wanted <= 2 + kMaxQuery) return;
  if (received.size() >= wanted && wanted > 2) {
    if (const auto answer = answer_query(std::string_view(received).substr(2, wanted - 2))) {
      note(log, answer->refused_name);
      std::string framed{static_cast<char>(answer->message.size() >> 8),
                         static_cast<char>(answer->message.size() & 0xff)};
      framed += answer->message;
      (void)::send(connection.socket.get(), framed.data(), framed.size(), MSG_NOSIGNAL);
    }
  }
  epoll.remove(connection.socket);
  connection = {};
}

}  // namespace paddock::agent
