#include "sys/capability_limits.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace paddock::sys {
namespace {

constexpr int kHighestPossible = 63;

int set_capabilities(uint64_t keep) {
  struct __user_cap_header_struct header {
    _LINUX_CAPABILITY_VERSION_3, 0
  };
  struct __user_cap_data_struct data[2]{};
  for (int word = 0; word < 2; ++word) {
    auto bits = static_cast<uint32_t>(keep >> (32 * word));
    data[word] = {bits, bits, bits};
  }
  // SAFETY: version 3 takes two words; both structures outlive the call.
  return static_cast<int>(syscall(SYS_capset, &header, data));
}

}  // namespace

int limit_capabilities(uint64_t keep) {
  // Ids mean no capabilities any more, not even 0; and nobody below can change that.
  constexpr unsigned long kNoRoot = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED;
  if (::prctl(PR_SET_SECUREBITS, kNoRoot, 0, 0, 0) != 0) return -1;
  return hold_capabilities(keep);
}

int hold_capabilities(uint64_t keep) {
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return -1;
  if (set_capabilities(keep) != 0) return -1;
  for (int capability = 0; capability <= kHighestPossible; ++capability) {
    if ((keep & capability_bit(capability)) == 0) continue;
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) return -1;
  }
  return 0;
}

uint64_t effective_capabilities() {
  struct __user_cap_header_struct header {
    _LINUX_CAPABILITY_VERSION_3, 0
  };
  struct __user_cap_data_struct data[2]{};
  // SAFETY: version 3 fills two words; both structures outlive the call.
  if (syscall(SYS_capget, &header, data) != 0) return 0;
  return uint64_t{data[1].effective} << 32 | data[0].effective;
}

}  // namespace paddock::sys
