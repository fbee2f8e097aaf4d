#include "sys/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace paddock::sys {
namespace {

using Sets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

Status write_sets(const Sets& sets) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  // SAFETY: version 3 reads two elements.
  if (::syscall(SYS_capset, &header, sets.data()) != 0) {
    return Error::from_errno(errno, "setting capabilities");
  }
  return {};
}

}  // namespace

Status clear_bounding_set() {
  // The kernel says which numbers it knows: reading one beyond the last is EINVAL.
  for (int capability = 0;; ++capability) {
    const int held = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (held < 0) return {};
    if (held == 1 && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
      return Error::from_errno(errno, "emptying the capability bounding set");
    }
  }
}

Status drop_capabilities() {
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) {
    return Error::from_errno(errno, "clearing ambient capabilities");
  }
  return write_sets(Sets{});
}

}  // namespace paddock::sys
