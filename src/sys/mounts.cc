#include "sys/mounts.h"

#include <fcntl.h>
#include <sys/mount.h>

#include <cerrno>

#include "base/strings.h"
#include "sys/raw_calls.h"

namespace paddock::sys {
namespace {

unsigned recursion(Submounts submounts) {
  return submounts == Submounts::include ? AT_RECURSIVE : 0;
}

}  // namespace

Result<MountFd> clone_mount(const std::string& path, Submounts submounts, uint64_t attributes) {
  unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | recursion(submounts);
  MountFd mount(::open_tree(AT_FDCWD, path.c_str(), flags));
  if (!mount.is_open()) {
    return Error::from_errno(errno, "cloning the mount of " + printable(path));
  }
  if (raw_set_mount_attributes(mount.get(), attributes, recursion(submounts)) != 0) {
    return Error::from_errno(errno, "setting mount attributes of " + printable(path));
  }
  return mount;
}

Status map_ids(const MountFd& mount, Submounts submounts, const Fd& user_namespace) {
  struct mount_attr attr {};
  attr.attr_set = MOUNT_ATTR_IDMAP;
  attr.userns_fd = static_cast<uint64_t>(user_namespace.get());
  unsigned flags = AT_EMPTY_PATH | recursion(submounts);
  if (::mount_setattr(mount.get(), "", flags, &attr, sizeof attr) == 0) return {};
  if (errno == EINVAL || errno == EOPNOTSUPP) {
    return Error(Code::unsupported, "this file system cannot show its files under other ids");
  }
  return Error::from_errno(errno, "mapping the ids of a mount");
}

}  // namespace paddock::sys
