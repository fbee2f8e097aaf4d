#include "agent/way_in.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "sys/machine.h"
#include "wire/egress.h"

namespace paddock::agent {
namespace {

enum class Family { v4, v6 };

Result<sys::SocketFd> open_socket(Family family) {
  const int domain = family == Family::v4 ? AF_INET : AF_INET6;
  sys::SocketFd socket(::socket(domain, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return Error::from_errno(errno, "opening a socket");
  const int on = 1;
  (void)::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

// 0: connected, or on its way. SAFETY: every socket address is passed as a sockaddr.
int begin_connecting(const sys::SocketFd& socket, Family family, uint16_t port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = IN6ADDR_LOOPBACK_INIT;
  const int failed =
      family == Family::v4
          ? ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&v4), sizeof v4)
          : ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
  return failed == 0 || errno == EINPROGRESS ? 0 : errno;
}

int error_of(const sys::SocketFd& socket) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

void WayIn::connect(uint64_t request, const wire::Forward& forward) {
  do {
    ++last_id_;
  } while (last_id_ == 0 || doors_.contains(last_id_));
  const Id id = last_id_;
  Door door{sys::SocketFd()};
  door.request = request;
  door.port = static_cast<uint16_t>(forward.port());
  door.stream_id = forward.stream();
  door.stream = std::make_unique<AgentStream>(loop_.channel, forward.stream());
  const bool full = doors_.size() >= wire::kMaxForwards;
  Door& kept = doors_.emplace(id, std::move(door)).first->second;
  streams_.emplace(forward.stream(), id);
  if (forward.port() == 0 || forward.port() > 0xffff) {
    return fail(id, Error::from_errno(EINVAL, "connecting to a port"));
  }
  if (full) return fail(id, Error::from_errno(EMFILE, "connecting to a port"));
  if (doors_.size() == 1)
    sys::allow_most_descriptors();  // commands get the limit that their Start names
  Status dialled = dial(kept, id);
  if (!dialled.ok()) fail(id, std::move(dialled).error());
}

// From 127.0.0.1 to ::1 where the first refuses.
Status WayIn::dial(Door& door, Id id) {
  for (Family family : {Family::v4, Family::v6}) {
    if (family == Family::v4 && door.second) continue;
    door.second = family == Family::v6;
    sys::SocketFd socket = PD_TRY(open_socket(family));
    const int error = begin_connecting(socket, family, door.port);
    if (error == ECONNREFUSED && !door.second) continue;
    if (error != 0) return Error::from_errno(error, "connecting to the port");
    PD_TRY(loop_.epoll.add(socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, loop_.token + id));
    door.connection = Connection(std::move(socket));
    return {};
  }
  return Error::from_errno(ECONNREFUSED, "connecting to the port");
}

void WayIn::on_event(uint32_t which) {
  auto found = doors_.find(which);
  if (found == doors_.end()) return;
  if (found->second.stream) return on_connected(which, found->second);
  found->second.connection.on_ready();
  ready_.insert(which);
}

void WayIn::on_connected(Id id, Door& door) {
  const int error = error_of(door.connection.socket());
  if (error != 0) {
    loop_.epoll.remove(door.connection.socket());
    const bool other = error == ECONNREFUSED && !door.second;
    door.second = true;
    Status dialled =
        other ? dial(door, id) : Status(Error::from_errno(error, "connecting to the port"));
    if (!dialled.ok()) fail(id, std::move(dialled).error());
    return;
  }
  wire::ToHost reply;
  reply.set_request(door.request);
  reply.mutable_done();
  (void)loop_.channel.send(reply);
  door.connection.carry(std::move(door.stream));
  ready_.insert(id);
}

void WayIn::fail(Id id, const Error& error) {
  wire::ToHost reply;
  reply.set_request(doors_.at(id).request);
  reply.mutable_failure()->set_message(error.describe());
  reply.mutable_failure()->set_error(error.errno_value());
  (void)loop_.channel.send(reply);
  end(id);
}

// The stream's connection, to be pumped soon; none once that is over.
AgentStream* WayIn::wake(wire::StreamId stream) {
  auto found = streams_.find(stream);
  if (found == streams_.end()) return nullptr;
  Door& door = doors_.at(found->second);
  if (door.stream) return door.stream.get();
  ready_.insert(found->second);
  return door.connection.stream();
}

void WayIn::on_stream(const wire::StreamData& data) {
  if (AgentStream* stream = wake(data.stream)) stream->on_data(data.bytes);
}
void WayIn::on_stream(const wire::StreamEnd& end) {
  if (AgentStream* stream = wake(end.stream)) stream->on_end();
}
void WayIn::on_stream(const wire::StreamReset& reset) {
  if (AgentStream* stream = wake(reset.stream)) stream->on_reset();
}
void WayIn::on_stream(const wire::StreamAbort& abort) {
  auto found = streams_.find(abort.stream);
  if (found == streams_.end()) return;
  Door& door = doors_.at(found->second);
  if (!door.stream) door.connection.on_stream_abort();
  end(found->second);
}
void WayIn::on_stream(const wire::CreditGained& credit) {
  (void)wake(credit.stream);
}

void WayIn::on_host_gone() {
  while (!doors_.empty()) {
    doors_.begin()->second.connection.reset();
    end(doors_.begin()->first);
  }
}

// Begins behind the one that had room last: with little room each has its turn.
bool WayIn::pump(size_t room) {
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

bool WayIn::pump_one(Id id, size_t room) {
  auto found = doors_.find(id);
  if (found == doors_.end() || found->second.stream) return false;
  const bool more = found->second.connection.pump(room);
  if (found->second.connection.is_over()) end(id);
  return more;
}

void WayIn::end(Id id) {
  auto found = doors_.find(id);
  if (found == doors_.end()) return;
  if (found->second.connection.socket().is_open()) {
    loop_.epoll.remove(found->second.connection.socket());
  }
  streams_.erase(found->second.stream_id);
  doors_.erase(found);
  ready_.erase(id);
}

}  // namespace paddock::agent
