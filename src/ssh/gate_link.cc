#include "ssh/gate_link.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace paddock::ssh {
namespace {

Error gone() {
  return Error(Code::unavailable, "the gate is gone");
}

void wait_for(int fd, short events) {
  pollfd waited{fd, events, 0};
  while (::poll(&waited, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace

Status GateLink::fill() {
  std::array<char, 65536> buffer;
  const ssize_t count = ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count > 0) {
    incoming_.append(buffer.data(), static_cast<size_t>(count));
    return {};
  }
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  return gone();
}

Result<wire::SshFrame> GateLink::wait_frame() {
  while (true) {
    if (auto frame = PD_TRY(next())) return std::move(*frame);
    wait_for(fd_.get(), POLLIN);
    PD_TRY(fill());
  }
}

Status GateLink::flush() {
  while (!outgoing_.empty()) {
    const ssize_t count =
        ::send(fd_.get(), outgoing_.data(), outgoing_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return {};
    if (count <= 0) return gone();
    outgoing_.erase(0, static_cast<size_t>(count));
  }
  return {};
}

Status GateLink::flush_all() {
  while (true) {
    PD_TRY(flush());
    if (outgoing_.empty()) return {};
    wait_for(fd_.get(), POLLOUT);
  }
}

}  // namespace paddock::ssh
