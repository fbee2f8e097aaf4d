// A system call by number. For tests that try what no wrapper offers.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace paddock::sys::testing {

// What the call returned, or -errno.
inline long raw_syscall(long number, const std::array<long, 6>& a) {
  // SAFETY: for tests; the arguments are numbers or point to what outlives the call.
  long result = ::syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  return result == -1 ? -errno : result;
}

}  // namespace paddock::sys::testing
