#include "sys/path_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::sys {
namespace {

bool still_names(const std::string& path, const FileFd& fd) {
  struct stat by_path {
  }, by_fd{};
  return ::lstat(path.c_str(), &by_path) == 0 && ::fstat(fd.get(), &by_fd) == 0 &&
         by_path.st_ino == by_fd.st_ino && by_path.st_dev == by_fd.st_dev;
}

}  // namespace

Result<FileFd> lock_path(const std::string& path, LockMode mode, LockWait wait) {
  int operation =
      (mode == LockMode::exclusive ? LOCK_EX : LOCK_SH) | (wait == LockWait::no ? LOCK_NB : 0);
  while (true) {
    FileFd fd = PD_TRY(open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    int locked;
    do {
      locked = ::flock(fd.get(), operation);
    } while (locked != 0 && errno == EINTR);
    if (locked != 0 && errno == EWOULDBLOCK) {
      return Error(Code::failed_precondition, printable(path) + " is locked by another process");
    }
    if (locked != 0) return Error::from_errno(errno, "locking " + printable(path));
    if (still_names(path, fd)) return fd;
  }
}

}  // namespace paddock::sys
