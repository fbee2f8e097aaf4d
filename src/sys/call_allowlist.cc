#include "sys/call_allowlist.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <cstddef>

namespace paddock::sys {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kOwnAbi = AUDIT_ARCH_X86_64;
constexpr uint32_t kOtherNumbers = 0x40000000;  // x32: the same ABI by name, other numbers
#elif defined(__aarch64__)
constexpr uint32_t kOwnAbi = AUDIT_ARCH_AARCH64;
constexpr uint32_t kOtherNumbers = 0x80000000;
#else
#error "no system calls are known for this processor"
#endif

constexpr sock_filter load(size_t offset) {
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(offset)};
}
constexpr sock_filter answer(uint32_t what) {
  return {BPF_RET | BPF_K, 0, 0, what};
}

// Little-endian: the low half comes first.
constexpr size_t offset_of_argument(unsigned argument) {
  return offsetof(seccomp_data, args) + argument * sizeof(uint64_t);
}

}  // namespace

// Each call is a block of its own, so that no jump is longer than a block.
std::vector<sock_filter> allow_only(std::span<const AllowedCall> calls) {
  std::vector<sock_filter> filter{
      load(offsetof(seccomp_data, arch)),
      {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kOwnAbi},
      answer(SECCOMP_RET_KILL_PROCESS),
      load(offsetof(seccomp_data, nr)),
      {BPF_JMP | BPF_JGE | BPF_K, 0, 1, kOtherNumbers},
      answer(SECCOMP_RET_KILL_PROCESS),
  };
  for (const AllowedCall& call : calls) {
    if (call.forbidden == 0) {
      filter.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call.number});
      filter.push_back(answer(SECCOMP_RET_ALLOW));
      continue;
    }
    filter.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 4, call.number});
    filter.push_back(load(offset_of_argument(call.argument)));
    filter.push_back({BPF_JMP | BPF_JSET | BPF_K, 1, 0, call.forbidden});
    filter.push_back(answer(SECCOMP_RET_ALLOW));
    filter.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
  }
  filter.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
  return filter;
}

}  // namespace paddock::sys
