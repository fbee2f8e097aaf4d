#include "sys/rename.h"

#include <fmt/core.h>
#include <unistd.h>
#include <cstdio>

#include <cerrno>

#include "base/strings.h"

namespace paddock::sys {
namespace {

Status rename_with(DirName from, DirName to, unsigned flags) {
  if (::renameat2(from.dir.get(), from.name.c_str(), to.dir.get(), to.name.c_str(), flags) == 0) {
    return {};
  }
  std::string doing = fmt::format("renaming {} to {}", printable(from.name), printable(to.name));
  Error error = Error::from_errno(errno, doing);
  if (errno != EXDEV && errno != EINVAL) return error;
  return Error(Code::unsupported, error.message());
}

}  // namespace

Status rename_new(DirName from, DirName to) {
  return rename_with(from, to, RENAME_NOREPLACE);
}

Status exchange(DirName a, DirName b) {
  return rename_with(a, b, RENAME_EXCHANGE);
}

Status sync_file_system(const Fd& fd) {
  if (::syncfs(fd.get()) == 0) return {};
  return Error::from_errno(errno, "syncing the file system");
}

}  // namespace paddock::sys
