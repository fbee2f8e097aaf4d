#include "engine/sink.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace paddock::engine {

Sink::Sink(int fd) : fd_(fd) {
  // Works for pipes and terminals; a regular file never blocks, and reopening it would lose its
  // offset; a socket cannot be reopened.
  struct stat st {};
  if (::fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))) {
    own_ = sys::Fd(::open(fmt::format("/proc/self/fd/{}", fd).c_str(),
                          O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  }
}

size_t Sink::write_some() {
  if (!wants_to_write()) return 0;
  size_t count = pending_.size();
  if (!own_.is_open()) {
    // A pipe that polls writable takes PIPE_BUF bytes without blocking.
    struct pollfd ready {
      fd_, POLLOUT, 0
    };
    if (::poll(&ready, 1, 0) <= 0) return 0;
    count = std::min<size_t>(count, PIPE_BUF);
  }
  ssize_t n = ::write(fd(), pending_.data(), count);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (n < 0) {
    closed_ = true;
    pending_.clear();
    return 0;
  }
  pending_.erase(0, static_cast<size_t>(n));
  written_ += static_cast<uint64_t>(n);
  return static_cast<size_t>(n);
}

}  // namespace paddock::engine
