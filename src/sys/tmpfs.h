// What this kernel's tmpfs can do.
#pragma once

namespace paddock::sys {

// Whether files on a tmpfs take extended attributes of the namespace user. (Linux 6.6 and newer.)
// Found by setting one on a memfd, whose file system it is.
bool tmpfs_has_user_xattrs();

}  // namespace paddock::sys
