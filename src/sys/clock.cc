#include "sys/clock.h"

#include <ctime>

namespace paddock::sys {
namespace {

int64_t read_ns(clockid_t clock) {
  struct timespec now {};
  ::clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

int64_t wall_clock_ms() {
  return read_ns(CLOCK_REALTIME) / 1'000'000;
}
int64_t wall_clock_ns() {
  return read_ns(CLOCK_REALTIME);
}
int64_t monotonic_us() {
  return read_ns(CLOCK_MONOTONIC) / 1'000;
}

}  // namespace paddock::sys
