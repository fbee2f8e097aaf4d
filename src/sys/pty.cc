#include "sys/pty.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

namespace paddock::sys {

Result<PtyPair> open_pty(WindowSize size) {
  FileFd master(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!master.is_open()) return Error::from_errno(errno, "opening /dev/ptmx");
  int unlocked = 0;
  if (::ioctl(master.get(), TIOCSPTLCK, &unlocked) != 0) {
    return Error::from_errno(errno, "unlocking a terminal");
  }
  FileFd slave(::ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave.is_open()) return Error::from_errno(errno, "opening a terminal");
  PD_TRY(resize_pty(master, size));
  return PtyPair{std::move(master), std::move(slave)};
}

Status resize_pty(const Fd& master, WindowSize size) {
  const struct winsize value {
    .ws_row = static_cast<unsigned short>(size.rows),
    .ws_col = static_cast<unsigned short>(size.columns), .ws_xpixel = 0, .ws_ypixel = 0
  };
  if (::ioctl(master.get(), TIOCSWINSZ, &value) != 0) {
    return Error::from_errno(errno, "resizing a terminal");
  }
  return {};
}

int begin_terminal_session() {
  if (::setsid() < 0) return errno;
  return ::ioctl(STDIN_FILENO, TIOCSCTTY, 0) == 0 ? 0 : errno;
}

}  // namespace paddock::sys
