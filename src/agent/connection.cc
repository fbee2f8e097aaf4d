#include "agent/connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace paddock::agent {
namespace {

constexpr size_t kMaxRead = 64u << 10;
constexpr size_t kGreetingChunk = 4096;

}  // namespace

// What a proxy says fits the buffer of a socket that nothing was written to yet.
void Connection::say(std::string_view text) {
  if (!text.empty()) (void)::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

std::optional<wire::ProxyDestination> Connection::read_greeting() {
  while (readable_) {
    std::array<char, kGreetingChunk> buffer;
    const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) readable_ = false;
    if (n < 0 && errno == EAGAIN) return std::nullopt;
    if (n <= 0) {
      socket_.reset();
      return std::nullopt;
    }
    auto destination = greeting_->receive({buffer.data(), static_cast<size_t>(n)});
    say(greeting_->take_reply());
    if (!destination.ok()) {
      socket_.reset();
      return std::nullopt;
    }
    if (*destination) {
      destination_ = **destination;
      return destination_;
    }
  }
  return std::nullopt;
}

void Connection::refuse(const std::string& reason) {
  if (!destination_) {
    reset();
    return;
  }
  say(wire::ProxyGreeting::refused(destination_->form, reason));
  socket_.reset();
}

void Connection::carry(std::unique_ptr<AgentStream> stream) {
  stream_ = std::move(stream);
  stream_id_ = stream_->id();
  if (!destination_) return;
  say(wire::ProxyGreeting::accepted(destination_->form));
  stream_->read(greeting_->rest());  // far less than a stream's first credit
  greeting_.reset();
}

// What came before it is still the program's.
void Connection::on_stream_abort() {
  if (stream_) write_out();
  reset();
}

void Connection::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket_.reset();
  stream_.reset();
}

bool Connection::pump(size_t room) {
  if (!stream_ || !socket_.is_open()) return false;
  write_out();
  const bool more = socket_.is_open() && read_in(room);
  if (stream_ && stream_->is_over()) {
    socket_.reset();
    stream_.reset();
  }
  return more;
}

void Connection::write_out() {
  while (writable_ && !stream_->unwritten().empty()) {
    const std::string_view bytes = stream_->unwritten();
    const ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      stream_->wrote(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      writable_ = false;
    } else if (errno != EINTR) {  // the program has broken it off
      reset();
      return;
    }
  }
  if (stream_->is_end_due()) {
    (void)::shutdown(socket_.get(), SHUT_WR);
    stream_->wrote_end();
  }
}

bool Connection::read_in(size_t room) {
  static std::array<char, kMaxRead> buffer;  // the agent's loop is the only user
  const size_t wanted = std::min(buffer.size(), stream_->readable(room));
  if (!readable_ || wanted == 0) return readable_ && room == 0;
  const ssize_t n = ::recv(socket_.get(), buffer.data(), wanted, 0);
  if (n > 0) {
    stream_->read({buffer.data(), static_cast<size_t>(n)});
    return true;
  }
  if (n < 0 && errno == EINTR) return true;
  readable_ = false;
  if (n < 0 && errno == EAGAIN) return false;
  if (n == 0) {
    stream_->read_end();
  } else {
    reset();
  }
  return false;
}

}  // namespace paddock::agent
