#include "sys/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace paddock::sys {

bool is_terminal(int fd) {
  return ::isatty(fd) == 1;
}

std::optional<WindowSize> window_size(int fd) {
  struct winsize size {};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    return std::nullopt;
  return WindowSize{size.ws_row, size.ws_col};
}

Result<RawMode> RawMode::enter(int fd) {
  termios before{};
  if (::tcgetattr(fd, &before) != 0) return Error::from_errno(errno, "reading the terminal's mode");
  termios raw = before;
  ::cfmakeraw(&raw);
  if (::tcsetattr(fd, TCSADRAIN, &raw) != 0)
    return Error::from_errno(errno, "setting the terminal's mode");
  return RawMode(fd, before);
}

RawMode::RawMode(RawMode&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), before_(other.before_) {}

RawMode::~RawMode() {
  if (fd_ >= 0) ::tcsetattr(fd_, TCSADRAIN, &before_);
}

}  // namespace paddock::sys
