#include "agent/way_out.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "agent/network_table.h"
#include "agent/process_tree.h"
#include "sys/files.h"
#include "sys/original_destination.h"
#include "sys/unix_socket.h"
#include "wire/egress.h"

namespace paddock::agent {
namespace {

constexpr int kAcceptedAtATime = 64;
constexpr int kBacklog = 1024;
constexpr size_t kOtherDescriptors = 256;
constexpr uint32_t kFirstConnection = 64;  // numbers below are listeners
static_assert(wire::kMaxSockets + 2 < kFirstConnection);

// SAFETY: every socket address is passed as a sockaddr.
template <typename Address>
Result<sys::SocketFd> listen_on(const Address& address, int family) {
  sys::SocketFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return Error::from_errno(errno, "opening the listener of connections");
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return Error::from_errno(errno, "binding the listener of connections");
  }
  return socket;
}

Result<sys::SocketFd> listen_v4(uint32_t address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(kWayOutPort);
  to.sin_addr.s_addr = htonl(address);
  return listen_on(to, AF_INET);
}

Result<sys::SocketFd> listen_v6() {
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(kWayOutPort);
  to.sin6_addr = IN6ADDR_LOOPBACK_INIT;
  return listen_on(to, AF_INET6);
}

// "tcp 198.18.0.5:443", as the table's refusals are written.
std::string describe(const sys::Endpoint& to) {
  const bool v6 = to.address.size() == 16;
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(v6 ? AF_INET6 : AF_INET, to.address.data(), text, sizeof text);
  return std::string("tcp ") + (v6 ? "[" : "") + text + (v6 ? "]:" : ":") + std::to_string(to.port);
}

// So many that nothing else of the agent's runs out of descriptors.
size_t affordable_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= kOtherDescriptors) return 0;
  return std::min<size_t>(wire::kMaxConnections, limit.rlim_cur - kOtherDescriptors);
}

sys::Fd open_spare() {
  return sys::Fd(::eventfd(0, EFD_CLOEXEC));
}

}  // namespace

WayOut::WayOut(const Loop& loop)
    : loop_(loop), most_(affordable_connections()), spare_(open_spare()) {}

Status WayOut::watch(Listener listener) {
  PD_TRY(loop_.epoll.add(listener.socket, EPOLLIN, loop_.token + listeners_.size()));
  listeners_.push_back(std::move(listener));
  return {};
}

Status WayOut::open(wire::Egress::Form form) {
  const bool is_proxy = form == wire::Egress::PROXY;
  auto v4 = PD_TRY(listen_v4(is_proxy ? kProxyAddress : INADDR_LOOPBACK));
  PD_TRY(watch({std::move(v4), is_proxy ? Serves::proxy : Serves::redirected}));
  if (is_proxy) return {};
  auto v6 = listen_v6();  // where IPv6 is switched off, nothing is redirected to it either
  return v6.ok() ? watch({std::move(*v6), Serves::redirected}) : Status();
}

Status WayOut::open_sockets(uint32_t count) {
  if (count > wire::kMaxSockets) {
    return Error(Code::resource_exhausted, "too many sockets of the host");
  }
  PD_TRY(sys::make_dirs(wire::kSocketsInside, 0755));
  const sys::DirFd directory = PD_TRY(sys::open_dir(wire::kSocketsInside));
  for (uint32_t number = 0; number < count; ++number) {
    // The agent may still be another user than its commands are; nobody else is inside.
    auto socket = PD_TRY(
        sys::listen_unix(directory, std::to_string(number), {.mode = 0666, .backlog = kBacklog}));
    PD_TRY(watch({std::move(socket), Serves::socket, number}));
  }
  return {};
}

void WayOut::on_event(uint32_t which) {
  if (which < listeners_.size()) {
    accept_some(listeners_[which]);
  } else if (auto found = connections_.find(which); found != connections_.end()) {
    found->second.on_ready();
    ready_.insert(which);
  }
}

void WayOut::accept_some(const Listener& listener) {
  for (int i = 0; i < kAcceptedAtATime; ++i) {
    sys::SocketFd socket(
        ::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open() && (errno == EMFILE || errno == ENFILE) && spare_.is_open()) {
      // Left in the queue it would wake us for ever: take it with the spare descriptor, drop it.
      spare_.reset();
      sys::SocketFd dropped(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
      dropped.reset();
      spare_ = open_spare();
      continue;
    }
    if (!socket.is_open()) return;
    take_in(listener, std::move(socket));
  }
}

void WayOut::take_in(const Listener& listener, sys::SocketFd socket) {
  Connection connection(std::move(socket));
  switch (listener.serves) {
    case Serves::redirected:
      return take_in_redirected(std::move(connection));
    case Serves::socket:
      return take_in_local(listener.number, std::move(connection));
    case Serves::proxy:
      if (is_full()) return connection.reset();
      connection.expect_greeting();
      return keep(next_id(), std::move(connection));
  }
}

void WayOut::take_in_redirected(Connection connection) {
  const auto to = sys::original_destination(connection.socket());
  if (!to.ok()) return connection.reset();  // connected here by itself: nothing is here
  if (is_full()) {
    loop_.log.note({.kind = wire::Denied::NETWORK, .what = describe(*to)}, 1);
    return connection.reset();
  }
  const Id id = next_id();
  wire::ConnectQuery query;
  query.set_address(to->address);
  query.set_port(to->port);
  const auto from = sys::peer_of(connection.socket());
  if (from.ok()) {
    *query.mutable_asker() = loop_.askers.find(sys::SocketDiag::Protocol::tcp, *from, *to);
  }
  keep(id, std::move(connection));
  ask(id, std::move(query));
}

void WayOut::take_in_local(uint32_t number, Connection connection) {
  if (is_full()) return connection.reset();
  const Id id = next_id();
  wire::ConnectQuery query;
  query.set_socket(number);
  const auto peer = sys::peer_credentials(connection.socket());
  if (peer.ok()) {
    query.mutable_asker()->set_pid(peer->pid);
    query.mutable_asker()->set_process(name_of_process(peer->pid));
  }
  keep(id, std::move(connection));
  ask(id, std::move(query));
}

bool WayOut::is_full() const {
  return host_gone_ || connections_.size() >= most_;
}

void WayOut::keep(Id id, Connection connection) {
  const sys::SocketFd& socket =
      connections_.try_emplace(id, std::move(connection)).first->second.socket();
  const Status watched =
      loop_.epoll.add(socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, loop_.token + id);
  if (!watched.ok()) end(id);
}

void WayOut::greet(Id id, Connection& connection) {
  const auto to = connection.read_greeting();
  if (!to) return;
  wire::ConnectQuery query;
  query.set_name(to->host.substr(0, wire::kMaxAskedName));
  query.set_port(to->port);
  const auto from = sys::peer_of(connection.socket());
  const sys::Endpoint proxy{std::string("\x7f\0\0\x35", 4), kWayOutPort};
  if (from.ok()) {
    *query.mutable_asker() = loop_.askers.find(sys::SocketDiag::Protocol::tcp, *from, proxy);
  }
  ask(id, std::move(query));
}

void WayOut::ask(Id id, wire::ConnectQuery query) {
  query.set_query(id);
  wire::ToHost message;
  *message.mutable_connect_query() = std::move(query);
  if (!loop_.channel.send(message).ok()) end(id);
}

void WayOut::on_answer(const wire::ConnectAnswer& answer) {
  auto found = connections_.find(answer.query());
  if (found == connections_.end()) {  // its program went away first
    loop_.channel.close_stream(answer.stream());
  } else if (answer.stream() == 0) {
    found->second.refuse(answer.reason());
    end(answer.query());
  } else {
    streams_.emplace(answer.stream(), answer.query());
    found->second.carry(std::make_unique<AgentStream>(loop_.channel, answer.stream()));
    ready_.insert(answer.query());
  }
}

// The stream's connection, to be pumped soon; none once that is over.
AgentStream* WayOut::wake(wire::StreamId stream) {
  auto found = streams_.find(stream);
  if (found == streams_.end()) return nullptr;
  ready_.insert(found->second);
  return connections_.at(found->second).stream();
}

void WayOut::on_stream(const wire::StreamData& data) {
  if (AgentStream* stream = wake(data.stream)) stream->on_data(data.bytes);
}
void WayOut::on_stream(const wire::StreamEnd& end) {
  if (AgentStream* stream = wake(end.stream)) stream->on_end();
}
void WayOut::on_stream(const wire::StreamReset& reset) {
  if (AgentStream* stream = wake(reset.stream)) stream->on_reset();
}
void WayOut::on_stream(const wire::StreamAbort& abort) {
  if (wake(abort.stream) == nullptr) return;
  const Id id = streams_.at(abort.stream);
  connections_.at(id).on_stream_abort();
  end(id);
}
void WayOut::on_stream(const wire::CreditGained& credit) {
  (void)wake(credit.stream);
}

void WayOut::on_host_gone() {
  host_gone_ = true;
  for (auto& [id, connection] : connections_) {
    loop_.epoll.remove(connection.socket());
    connection.reset();
  }
  connections_.clear();
  streams_.clear();
  ready_.clear();
}

// Begins behind the one that had room last: with little room each has its turn.
bool WayOut::pump(size_t room) {
  std::vector<Id> round(ready_.upper_bound(last_pumped_), ready_.end());
  round.insert(round.end(), ready_.begin(), ready_.upper_bound(last_pumped_));
  bool more = false;
  for (Id id : round) {
    if (room > 0) last_pumped_ = id;
    const size_t before = loop_.channel.output().size();
    if (pump_one(id, room)) {
      more = true;
    } else {
      ready_.erase(id);
    }
    room -= std::min(room, loop_.channel.output().size() - before);
  }
  return more;
}

bool WayOut::pump_one(Id id, size_t room) {
  auto found = connections_.find(id);
  if (found == connections_.end()) return false;
  Connection& connection = found->second;
  if (connection.is_greeting()) greet(id, connection);
  const bool more = connection.pump(room);
  if (connection.is_over()) end(id);
  return more;
}

// The number of an asked connection is in use until it is answered: no wrap meets it within that.
WayOut::Id WayOut::next_id() {
  do {
    ++last_id_;
  } while (last_id_ < kFirstConnection || connections_.contains(last_id_));
  return last_id_;
}

void WayOut::end(Id id) {
  auto found = connections_.find(id);
  if (found == connections_.end()) return;
  loop_.epoll.remove(found->second.socket());
  streams_.erase(found->second.stream_id());
  connections_.erase(found);
}

}  // namespace paddock::agent
