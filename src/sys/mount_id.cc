#include "sys/mount_id.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace paddock::sys {

Result<uint64_t> mount_id(const Fd& fd) {
  struct statx found {};
  if (::statx(fd.get(), "", AT_EMPTY_PATH, STATX_MNT_ID, &found) != 0) {
    return Error::from_errno(errno, "finding the mount of a directory");
  }
  if ((found.stx_mask & STATX_MNT_ID) != 0) return found.stx_mnt_id;
  return Error(Code::unsupported, "the kernel does not tell mounts apart (Linux 5.8 does)");
}

}  // namespace paddock::sys
