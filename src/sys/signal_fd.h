// Signals as events of a descriptor.
#pragma once

#include <signal.h>

#include <initializer_list>
#include <optional>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

// Blocks the signals in the calling thread while it lives and delivers them through fd() instead.
// Make it before other threads start, or they still receive them.
class SignalFd {
 public:
  static Result<SignalFd> open(std::initializer_list<int> signals);
  SignalFd(SignalFd&& other) noexcept;
  SignalFd& operator=(SignalFd&&) = delete;
  ~SignalFd();

  int fd() const { return fd_.get(); }
  const Fd& descriptor() const { return fd_; }
  // The next pending signal, without waiting.
  std::optional<int> take();

 private:
  SignalFd(Fd fd, const sigset_t& before) : fd_(std::move(fd)), before_(before) {}
  Fd fd_;
  sigset_t before_;
};

}  // namespace paddock::sys
