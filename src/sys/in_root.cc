#include "sys/in_root.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/strings.h"

namespace paddock::sys {

Result<Fd> open_in_root(const DirFd& root, const std::string& path, int flags) {
  struct open_how how {};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  do {
    // SAFETY: openat2 has no libc wrapper in Debian 12; `how` outlives the call.
    fd = syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how);
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  if (fd >= 0) return Fd(static_cast<int>(fd));
  return Error::from_errno(errno, "opening " + printable(path));
}

}  // namespace paddock::sys
