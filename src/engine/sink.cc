#include "engine/sink.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <utility>

namespace paddock::engine {

Sink::Sink(int fd) : fd_(fd) {
  // Pipes and terminals can be opened again; a regular file would lose its offset.
  struct stat st {};
  if (::fstat(fd, &st) != 0) return;
  if (S_ISREG(st.st_mode)) how_ = How::regular;
  if (S_ISSOCK(st.st_mode)) how_ = How::socket;
  if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {
    own_ = sys::Fd(::open(fmt::format("/proc/self/fd/{}", fd).c_str(),
                          O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (own_.is_open()) how_ = How::own;
  }
}

void Sink::add(std::string_view bytes) {
  if (sent_ == pending_.size()) {
    pending_.clear();
    sent_ = 0;
  }
  pending_.append(bytes);
}

ssize_t Sink::write_now(std::string_view bytes) const {
  if (how_ == How::socket) {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  if (how_ == How::polled) {
    // A pipe that polls writable takes PIPE_BUF bytes without blocking.
    pollfd ready{fd_, POLLOUT, 0};
    if (::poll(&ready, 1, 0) <= 0) {
      errno = EAGAIN;
      return -1;
    }
    bytes = bytes.substr(0, PIPE_BUF);
  }
  return ::write(fd(), bytes.data(), bytes.size());
}

size_t Sink::write_some() {
  if (!wants_to_write()) return 0;
  const ssize_t n = write_now(std::string_view(pending_).substr(sent_));
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (n < 0) {
    closed_ = true;
    pending_.clear();
    sent_ = 0;
    return 0;
  }
  sent_ += static_cast<size_t>(n);
  written_ += static_cast<uint64_t>(n);
  return static_cast<size_t>(n);
}

}  // namespace paddock::engine
