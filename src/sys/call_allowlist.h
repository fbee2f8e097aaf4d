// A seccomp filter that lets through the system calls of a list, for a program that makes few.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <vector>

namespace paddock::sys {

struct AllowedCall {
  uint32_t number = 0;
  // Of one argument, the low 32 bits of it: no bit of `forbidden` may be set.
  unsigned argument = 0;
  uint32_t forbidden = 0;
};

// All else answers EPERM; another ABI than the program's own kills it. At most 250 calls. Pure.
std::vector<sock_filter> allow_only(std::span<const AllowedCall> calls);

}  // namespace paddock::sys
