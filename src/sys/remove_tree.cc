#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/tree_walk.h"

namespace paddock::sys {
namespace {

Error removal_error(const char* action, std::string_view path) {
  return Error::from_errno(errno, fmt::format("{} {}", action, printable(path)));
}

// A directory of ours that we may not list: made listable by its inode, so that a symlink put in
// its place meanwhile is not followed.
Status open_up(const DirFd& parent, const std::string& name, mode_t mode) {
  if ((mode & 0700) == 0700) return {};
  FileFd dir(::openat(parent.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC));
  if (!dir.is_open()) return errno == ENOENT ? Status() : Status(removal_error("opening", name));
  if (::chmod(fmt::format("/proc/self/fd/{}", dir.get()).c_str(), 0700) == 0) return {};
  return removal_error("making accessible", name);
}

Status remove_entry(const DirFd& parent, const std::string& name, int flags) {
  if (::unlinkat(parent.get(), name.c_str(), flags) == 0 || errno == ENOENT) return {};
  return removal_error("removing", name);
}

Status remove_below(const DirFd& dir, const std::atomic<bool>* stop) {
  struct stat root {};
  if (::fstat(dir.get(), &root) != 0) return removal_error("examining", "directory");
  TreeVisitor visitor;
  visitor.enter = [&](const WalkEntry& entry) -> Result<Descend> {
    if (stop != nullptr && *stop) return Error(Code::unavailable, "removing was stopped");
    if (!S_ISDIR(entry.st.st_mode)) {
      PD_TRY(remove_entry(entry.parent, entry.name, 0));
      return Descend::no;
    }
    if (entry.st.st_dev != root.st_dev) {
      return Error(Code::failed_precondition,
                   fmt::format("removing {}: it is a mount point", printable(entry.path)));
    }
    PD_TRY(open_up(entry.parent, entry.name, entry.st.st_mode));
    return Descend::yes;
  };
  visitor.leave = [](const WalkEntry& entry) {
    return remove_entry(entry.parent, entry.name, AT_REMOVEDIR);
  };
  return walk_tree(dir, visitor);
}

Status remove(const DirFd& parent, const std::string& name, const std::atomic<bool>* stop) {
  if (::unlinkat(parent.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return removal_error("removing", name);
  struct stat parent_st {};
  if (::fstat(parent.get(), &parent_st) != 0) return removal_error("removing", name);
  auto st = lstat_at(parent, name);
  if (!st.ok())
    return st.error().code() == Code::not_found ? Status() : Status(std::move(st).error());
  if (!S_ISDIR(st->st_mode)) {
    errno = EPERM;
    return removal_error("removing", name);
  }
  if (parent_st.st_dev != st->st_dev) {
    return Error(Code::failed_precondition,
                 fmt::format("removing {}: it is a mount point", printable(name)));
  }
  PD_TRY(open_up(parent, name, st->st_mode));
  auto dir = open_dir_at(parent, name);
  if (!dir.ok())
    return dir.error().code() == Code::not_found ? Status() : Status(std::move(dir).error());
  PD_TRY(remove_below(*dir, stop));
  return remove_entry(parent, name, AT_REMOVEDIR);
}

Status remove(const std::string& path, const std::atomic<bool>* stop) {
  size_t slash = path.find_last_of('/');
  auto parent = open_dir(slash == std::string::npos ? "."
                         : slash == 0               ? "/"
                                                    : path.substr(0, slash));
  if (!parent.ok()) {
    return parent.error().code() == Code::not_found ? Status() : Status(std::move(parent).error());
  }
  return remove(*parent, path.substr(slash + 1), stop);
}

}  // namespace

Status remove_tree(const std::string& path) {
  return remove(path, nullptr);
}

Status remove_tree(const std::string& path, const std::atomic<bool>& stop) {
  return remove(path, &stop);
}

Status remove_tree_at(const DirFd& parent, const std::string& name) {
  return remove(parent, name, nullptr);
}

}  // namespace paddock::sys
