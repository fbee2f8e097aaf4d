#include "sys/signal_fd.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace paddock::sys {

Result<SignalFd> SignalFd::open(std::initializer_list<int> signals) {
  sigset_t set;
  sigset_t before;
  sigemptyset(&set);
  for (int signal : signals) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  int fd = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) {
    Error error = Error::from_errno(errno, "opening a signal descriptor");
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
  }
  return SignalFd(Fd(fd), before);
}

SignalFd::SignalFd(SignalFd&& other) noexcept : fd_(std::move(other.fd_)), before_(other.before_) {}

SignalFd::~SignalFd() {
  if (!fd_.is_open()) return;
  while (take()) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> SignalFd::take() {
  struct signalfd_siginfo info {};
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace paddock::sys
