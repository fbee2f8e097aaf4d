#include "sys/tmpfs.h"

#include <sys/mman.h>
#include <sys/xattr.h>

#include "sys/fd.h"

namespace paddock::sys {

bool tmpfs_has_user_xattrs() {
  Fd file(::memfd_create("xattr", MFD_CLOEXEC));
  return file.is_open() && ::fsetxattr(file.get(), "user.paddock", "", 0, 0) == 0;
}

}  // namespace paddock::sys
