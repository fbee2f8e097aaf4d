#include "sys/raw_calls.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace paddock::sys {

int raw_open_beneath(int root, const char* path, int flags) {
  struct open_how how {};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  // SAFETY: `how` outlives the call; async-signal-safe.
  return static_cast<int>(syscall(SYS_openat2, root, path, &how, sizeof how));
}

int raw_pivot_root(const char* new_root, const char* put_old) {
  // SAFETY: two C strings; async-signal-safe.
  return static_cast<int>(syscall(SYS_pivot_root, new_root, put_old));
}

int raw_set_mount_attributes(int mount, unsigned long attributes, unsigned flags) {
  struct mount_attr attr {};
  attr.attr_set = attributes;
  attr.propagation = MS_PRIVATE;
  return ::mount_setattr(mount, "", AT_EMPTY_PATH | flags, &attr, sizeof attr);
}

}  // namespace paddock::sys
