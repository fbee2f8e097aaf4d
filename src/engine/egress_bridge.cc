#include "engine/egress_bridge.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/strings.h"
#include "sys/clock.h"
#include "sys/pipe.h"
#include "wire/egress.h"

namespace paddock::engine {
namespace {

constexpr size_t kChunk = 64u << 10;
// Bytes on their way to the agent beyond which no more is read for it.
constexpr size_t kMaxBridgeBacklog = 512u << 10;
constexpr uint64_t kEndingsToken = 0;  // no stream's number
constexpr uint64_t kTimerToken = 1;
// A listener with a full queue makes a program wait in connect(2); so long it waits here.
constexpr int64_t kDialPatienceUs = 10'000'000;
constexpr int64_t kDialAgainNs = 5'000'000;
constexpr int kEventsAtATime = 64;
// Of what is told inside: enough for a sentence.
constexpr size_t kMaxReason = 400;

egress::Asker asker_of(const wire::Asker& asker) {
  return {asker.pid(), asker.process().substr(0, 64)};
}

std::string told(const Error& error) {
  return printable(error.message().substr(0, kMaxReason));
}

Result<std::variant<model::IpAddress, std::string>> destination_of(
    const wire::ConnectQuery& query) {
  if (query.has_address()) return {PD_TRY(model::IpAddress::from_bytes(query.address()))};
  if (query.has_name() && query.name().size() <= wire::kMaxAskedName) return {query.name()};
  return Error(Code::invalid_argument, "a connection to nowhere");
}

Error too_many() {
  return Error(Code::resource_exhausted, "too many connections of one sandbox");
}

}  // namespace

Result<std::unique_ptr<EgressBridge>> EgressBridge::make(egress::Gate& gate,
                                                         model::SandboxId sandbox, AgentLink& link,
                                                         const HostSockets* sockets) {
  sys::Epoll epoll = PD_TRY(sys::Epoll::open());
  std::shared_ptr<GateEndings> endings = PD_TRY(GateEndings::make());
  PD_TRY(epoll.add(endings->event(), EPOLLIN, kEndingsToken));
  sys::TimerFd timer = PD_TRY(sys::TimerFd::open());
  PD_TRY(epoll.add(timer.fd(), EPOLLIN, kTimerToken));
  std::unique_ptr<EgressBridge> bridge(new EgressBridge(
      gate, std::move(sandbox), link, std::move(epoll), std::move(endings), std::move(timer)));
  bridge->sockets_ = sockets;
  return bridge;
}

EgressBridge::~EgressBridge() {
  while (!connections_.empty()) drop(connections_.begin()->first);
}

EgressBridge::EgressBridge(egress::Gate& gate, model::SandboxId sandbox, AgentLink& link,
                           sys::Epoll epoll, std::shared_ptr<GateEndings> endings,
                           sys::TimerFd timer)
    : gate_(gate),
      sandbox_(std::move(sandbox)),
      link_(link),
      channel_(link.channel()),
      epoll_(std::move(epoll)),
      endings_(std::move(endings)),
      timer_(std::move(timer)),
      buffer_(kChunk) {}

// ---- questions

void EgressBridge::post(wire::ToAgent message) {
  (void)link_.post(std::move(message)).ok();  // short, whatever was asked
}

void EgressBridge::take(const wire::NameQuery& query) {
  wire::ToAgent message;
  wire::NameAnswer& answer = *message.mutable_name_answer();
  answer.set_query(query.query());
  if (query.name().size() > wire::kMaxAskedName) {
    answer.set_reason("the name is too long");
    return post(std::move(message));
  }
  auto pair = gate_.resolve({sandbox_, query.name(), asker_of(query.asker())});
  if (pair.ok()) {
    answer.set_v4(pair->v4.raw());
    answer.set_v6(pair->v6.raw());
  } else {
    answer.set_reason(told(pair.error()));
  }
  post(std::move(message));
}

void EgressBridge::take(const wire::ConnectQuery& query) {
  if (!query.has_socket()) return answer(query.query(), open(query));
  if (sockets_ == nullptr) {
    return answer(query.query(), Error(Code::not_found, "no socket of the host was given"));
  }
  dial({query, sockets_->begin(query.socket(), query.asker()),
        sys::monotonic_us() + kDialPatienceUs});
}

void EgressBridge::answer(uint32_t query, const Result<wire::StreamId>& stream) {
  wire::ToAgent message;
  message.mutable_connect_answer()->set_query(query);
  if (stream.ok()) {
    message.mutable_connect_answer()->set_stream(*stream);
  } else {
    message.mutable_connect_answer()->set_reason(told(stream.error()));
  }
  post(std::move(message));
}

Result<wire::StreamId> EgressBridge::open(const wire::ConnectQuery& query) {
  if (connections_.size() >= wire::kMaxConnections) return too_many();
  auto destination = PD_TRY(destination_of(query));
  if (query.port() == 0 || query.port() > 0xffff) {
    return Error(Code::invalid_argument, "a port that is none");
  }
  sys::SocketPair pair = PD_TRY(sys::make_socket_pair(SOCK_STREAM | SOCK_NONBLOCK));
  const wire::StreamId id = next_stream();
  PD_TRY(gate_.open({sandbox_, std::move(destination), static_cast<uint16_t>(query.port()),
                     asker_of(query.asker()), std::move(pair.second),
                     [endings = endings_, id](egress::Ending ending, const std::string&) {
                       if (ending == egress::Ending::aborted) endings->note_aborted(id);
                     }}));
  return carry(id, std::move(pair.first), std::nullopt);
}

// No number comes again within two thousand million: frames of a former stream are long gone.
wire::StreamId EgressBridge::next_stream() {
  last_stream_ = last_stream_ == kLastStream ? kFirstStream : last_stream_ + 1;
  return last_stream_;
}

Result<wire::StreamId> EgressBridge::carry(wire::StreamId id, sys::SocketFd socket,
                                           std::optional<SocketUse> use) {
  PD_TRY(epoll_.add(socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, id));
  PD_TRY(channel_.open_stream(id, wire::kConnectionCredit));
  Connection& connection = connections_[id];
  connection.socket = std::move(socket);
  connection.stream = std::make_unique<HostStream>(channel_, id);
  connection.use = std::move(use);
  return id;
}

void EgressBridge::dial(Dialling dialling) {
  const bool is_full = connections_.size() + dialling_.size() >= wire::kMaxConnections;
  auto socket =
      is_full ? Result<sys::SocketFd>(too_many()) : sockets_->connect(dialling.query.socket());
  if (!socket.ok()) {
    if (socket.error().errno_value() == EAGAIN && sys::monotonic_us() < dialling.until_us) {
      timer_.set(sys::boot_time_ns() + kDialAgainNs);
      dialling_.push_back(std::move(dialling));
      return;
    }
    sockets_->fail(std::move(dialling.use), socket.error());
    return answer(dialling.query.query(), std::move(socket).error());
  }
  const SocketUse use = dialling.use;
  const auto stream = carry(next_stream(), std::move(*socket), std::move(dialling.use));
  if (!stream.ok()) sockets_->fail(use, stream.error());
  answer(dialling.query.query(), stream);
}

void EgressBridge::dial_again() {
  timer_.clear_event();
  for (Dialling& dialling : std::exchange(dialling_, {})) dial(std::move(dialling));
}

// ---- what happens

EgressBridge::Connection* EgressBridge::wake(wire::StreamId stream) {
  auto found = connections_.find(stream);
  if (found == connections_.end()) return nullptr;
  ready_.insert(stream);
  return &found->second;
}

void EgressBridge::take(wire::StreamData data) {
  if (Connection* connection = wake(data.stream))
    connection->stream->on_data(std::move(data.bytes));
}
void EgressBridge::take(const wire::StreamEnd& end) {
  if (Connection* connection = wake(end.stream)) connection->stream->on_end();
}
void EgressBridge::take(const wire::StreamReset& reset) {
  Connection* connection = wake(reset.stream);
  if (connection == nullptr) return;
  connection->stream->on_reset();
  (void)::shutdown(connection->socket.get(), SHUT_RD);  // the gate's next write fails
}
void EgressBridge::take(const wire::StreamAbort& abort) {
  drop(abort.stream);
}
void EgressBridge::take(const wire::CreditGained& credit) {
  (void)wake(credit.stream);
}

void EgressBridge::on_ready() {
  std::array<epoll_event, kEventsAtATime> events;
  auto happened = epoll_.wait(events, 0);
  if (!happened.ok()) return;
  for (const epoll_event& event : *happened) {
    if (event.data.u64 == kEndingsToken) {
      note_endings();
    } else if (event.data.u64 == kTimerToken) {
      dial_again();
    } else if (Connection* connection = wake(static_cast<wire::StreamId>(event.data.u64))) {
      connection->readable = connection->writable = true;
    }
  }
}

void EgressBridge::note_endings() {
  for (wire::StreamId id : endings_->take()) {
    if (Connection* connection = wake(id)) connection->aborted = true;
  }
}

// ---- bytes

// Begins behind the one that came last: with little room each has its turn.
bool EgressBridge::pump() {
  std::vector<wire::StreamId> round(ready_.upper_bound(last_pumped_), ready_.end());
  round.insert(round.end(), ready_.begin(), ready_.upper_bound(last_pumped_));
  bool more = false;
  for (wire::StreamId id : round) {
    if (channel_.output().size() < kMaxBridgeBacklog) last_pumped_ = id;
    if (pump_one(id)) {
      more = true;
    } else {
      ready_.erase(id);
    }
  }
  return more && channel_.output().size() < kMaxBridgeBacklog;
}

bool EgressBridge::is_sending() const {
  if (!dialling_.empty()) return true;  // what was written before a service took it
  return std::ranges::any_of(connections_,
                             [](const auto& each) { return !each.second.stream->is_written(); });
}

bool EgressBridge::pump_one(wire::StreamId id) {
  auto found = connections_.find(id);
  if (found == connections_.end()) return false;
  Connection& connection = found->second;
  write_out(connection);
  const bool more = read_in(connection);
  const bool broken = connection.aborted && connection.read_ended;
  if (!broken && !connection.stream->is_over()) return more;
  drop(id);  // one that is not over is aborted
  return false;
}

void EgressBridge::write_out(Connection& connection) {
  HostStream& stream = *connection.stream;
  while (connection.writable && !stream.unwritten().empty()) {
    const std::string_view bytes = stream.unwritten();
    const ssize_t n = ::send(connection.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      stream.wrote(static_cast<size_t>(n));
      if (connection.use) connection.use->event.request_bytes += static_cast<uint64_t>(n);
    } else if (errno == EAGAIN) {
      connection.writable = false;
    } else if (errno != EINTR) {  // the gate has closed it, perhaps after its last words
      stream.write_failed();
    }
  }
  if (stream.is_end_due()) {
    (void)::shutdown(connection.socket.get(), SHUT_WR);
    stream.wrote_end();
  }
}

bool EgressBridge::read_in(Connection& connection) {
  const size_t backlog = channel_.output().size();
  const size_t room = kMaxBridgeBacklog - std::min(backlog, kMaxBridgeBacklog);
  const size_t wanted = std::min(buffer_.size(), connection.stream->readable(room));
  if (!connection.readable || connection.read_ended) return false;
  if (wanted == 0) return room == 0;
  const ssize_t n = ::recv(connection.socket.get(), buffer_.data(), wanted, 0);
  if (n > 0) {
    connection.stream->read({buffer_.data(), static_cast<size_t>(n)});
    if (connection.use) connection.use->event.response_bytes += static_cast<uint64_t>(n);
    return true;
  }
  if (n < 0 && errno == EINTR) return true;
  if (n < 0 && errno == EAGAIN) {
    connection.readable = false;
    return false;
  }
  // The end, or a reset: the gate closed it with bytes unread. Whether it broke, the gate has said
  // before it closed; a service of the host says so by the reset.
  note_endings();
  if (connection.use && n < 0) connection.aborted = true;
  connection.read_ended = true;
  if (!connection.aborted) connection.stream->read_end();
  return false;
}

void EgressBridge::drop(wire::StreamId id) {
  auto found = connections_.find(id);
  if (found == connections_.end()) return;
  epoll_.remove(found->second.socket);
  if (found->second.use) sockets_->finish(std::move(*found->second.use));
  connections_.erase(found);
  ready_.erase(id);
}

}  // namespace paddock::engine
