#include "sys/timer_fd.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace paddock::sys {
namespace {
constexpr int64_t kSecond = 1'000'000'000;
}

int64_t boot_time_ns() {
  struct timespec now {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * kSecond + now.tv_nsec;
}

Result<TimerFd> TimerFd::open() {
  int fd = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (fd < 0) return Error::from_errno(errno, "opening a timer");
  return TimerFd(Fd(fd));
}

void TimerFd::set(std::optional<int64_t> at_ns) {
  struct itimerspec when {};
  // All zero disarms, so the earliest time is 1 ns.
  const int64_t at = at_ns ? std::max<int64_t>(*at_ns, 1) : 0;
  when.it_value = {.tv_sec = at / kSecond, .tv_nsec = at % kSecond};
  ::timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void TimerFd::clear_event() {
  uint64_t expirations = 0;
  [[maybe_unused]] ssize_t n = ::read(fd_.get(), &expirations, sizeof expirations);
}

}  // namespace paddock::sys
