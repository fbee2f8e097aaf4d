// Directories made, names moved.
#include <stdio.h>
#include <sys/stat.h>

#include <cerrno>

#include "agent/files/files.h"
#include "sys/files.h"

namespace paddock::agent::files {
namespace {

Status make_parents(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == 0 || slash == std::string::npos) return {};
  return sys::make_dirs(path.substr(0, slash), 0755);
}

}  // namespace

Status make_directory(const std::string& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) == 0) {
    return Error::from_errno(S_ISDIR(there.st_mode) ? EEXIST : ENOTDIR, "making the directory");
  }
  PD_TRY(make_parents(path));
  if (::mkdir(path.c_str(), 0755) == 0) return {};
  return Error::from_errno(errno, "making the directory");
}

Status move(const std::string& from, const std::string& to) {
  (void)PD_TRY(sys::lstat_path(from));
  PD_TRY(make_parents(to));
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return Error::from_errno(errno, "moving");
}

}  // namespace paddock::agent::files
