// A point in time as an event of a descriptor.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

int64_t boot_time_ns();  // CLOCK_BOOTTIME: goes on while the machine is suspended

// Becomes readable at the time it is set to, on CLOCK_BOOTTIME.
class TimerFd {
 public:
  static Result<TimerFd> open();

  const Fd& fd() const { return fd_; }
  // nullopt: never. A time that has passed fires at once.
  void set(std::optional<int64_t> at_ns);
  void clear_event();  // so that fd() is not readable until it fires again

 private:
  explicit TimerFd(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace paddock::sys
