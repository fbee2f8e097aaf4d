#include "agent/name_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

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
  address.sin_port = htons(kResolverPort);
  std::memcpy(&address.sin_addr, kResolverAddress.data(), kResolverAddress.size());
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
    WaitingResolver from;
    from.from_size = sizeof from.from;
    // SAFETY: every socket address is passed as a sockaddr.
    const ssize_t n = ::recvfrom(udp_.get(), buffer.data(), buffer.size(), 0,
                                 reinterpret_cast<sockaddr*>(&from.from), &from.from_size);
    if (n < 0) return;
    const std::string answer = take({buffer.data(), static_cast<size_t>(n)}, from, log);
    reply(from, answer);
  }
}

std::string NameServer::take(std::string_view message, WaitingResolver from, DenialLog& log) {
  auto answer =
      answer_query(message, queries_ != nullptr ? OtherNames::of_the_host : OtherNames::refused);
  if (!answer) return {};
  note(log, answer->refused_name);
  if (!answer->message.empty()) return std::move(answer->message);
  from.query = answer->query;
  if (queries_->ask(std::move(from)) == NameQueries::Asked::yes) return {};
  wire::DnsReply busy;
  busy.code = wire::DnsCode::server_failure;
  return build_dns_reply(answer->query, busy);
}

void NameServer::on_answer(const wire::NameAnswer& answer) {
  if (queries_ == nullptr) return;
  const auto waiting = queries_->take(answer.query());
  if (waiting) reply(*waiting, build_dns_reply(waiting->query, reply_of(waiting->query, answer)));
}

void NameServer::reply(const WaitingResolver& to, const std::string& message) {
  if (message.empty()) return;
  if (to.connection == 0) {
    // SAFETY: every socket address is passed as a sockaddr.
    (void)::sendto(udp_.get(), message.data(), message.size(), 0,
                   reinterpret_cast<const sockaddr*>(&to.from), to.from_size);
    return;
  }
  for (Connection& connection : connections_) {
    if (connection.number != to.connection || !connection.socket.is_open()) continue;
    std::string framed{static_cast<char>(message.size() >> 8),
                       static_cast<char>(message.size() & 0xff)};
    framed += message;
    (void)::send(connection.socket.get(), framed.data(), framed.size(), MSG_NOSIGNAL);
    (void)::shutdown(connection.socket.get(), SHUT_RDWR);  // its event closes it
  }
}

void NameServer::accept_connection(sys::Epoll& epoll, uint64_t token) {
  sys::SocketFd socket(::accept4(tcp_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.is_open()) return;
  const size_t slot = next_++ % kConnections;
  Connection& connection = connections_[slot];
  epoll.remove(connection.socket);  // whoever was there has had its time
  connection = {.socket = std::move(socket), .received = {}, .number = ++accepted_, .asked = false};
  if (!epoll.add(connection.socket, EPOLLIN, token + kFirstConnection + slot).ok()) connection = {};
}

// One message with its length in front, one answer, end (RFC 7766 lets a server close). Bytes
// beyond the message are an end, too.
void NameServer::serve(sys::Epoll& epoll, Connection& connection, DenialLog& log) {
  if (!connection.socket.is_open()) return;
  std::array<char, kMaxQuery> buffer;
  const ssize_t n = ::recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
  if (n < 0 && errno == EAGAIN) return;
  std::string& received = connection.received;
  if (n > 0 && !connection.asked) received.append(buffer.data(), static_cast<size_t>(n));
  const size_t wanted = received.size() < 2 ? 2
                                            : 2 + (static_cast<uint8_t>(received[0]) << 8) +
                                                  static_cast<uint8_t>(received[1]);
  if (n > 0 && received.size() < wanted && wanted <= 2 + kMaxQuery) return;
  if (received.size() >= wanted && wanted > 2 && !connection.asked) {
    WaitingResolver from;
    from.connection = connection.number;
    const std::string answer = take(std::string_view(received).substr(2, wanted - 2), from, log);
    reply(from, answer);
    connection.asked = true;
    if (answer.empty() && n > 0) return;  // the host's answer ends it
  }
  epoll.remove(connection.socket);
  connection = {};
}

}  // namespace paddock::agent
