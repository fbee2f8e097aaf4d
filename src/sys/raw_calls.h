// System calls without a libc wrapper in Debian 12, for code between clone and exec: no allocation,
// no lock, -1 and errno on failure. Everything else uses the Result-returning wrappers.
#pragma once

#include <sys/types.h>

namespace paddock::sys {

// openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS.
int raw_open_beneath(int root, const char* path, int flags);
int raw_pivot_root(const char* new_root, const char* put_old);
// mount_setattr(2) on the descriptor itself: sets `attributes` (MOUNT_ATTR_*), makes it private.
// `flags` is 0 or AT_RECURSIVE.
int raw_set_mount_attributes(int mount, unsigned long attributes, unsigned flags);

}  // namespace paddock::sys
