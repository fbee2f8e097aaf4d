#include "view/view_dirs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/xattr.h"
#include "view/dir_attributes.h"

namespace paddock::view {
namespace {

using model::HostPath;

constexpr const char* kProbe = "user.paddock.probe";

// An upper marks what it deletes with extended attributes of the `user` namespace. NFS, some FUSE
// file systems and tmpfs before 6.6 have none.
Status check_xattrs(const sys::DirFd& upper, const HostPath& path) {
  Status set = sys::set_xattr(upper, {kProbe, "y"});
  if (set.ok()) return sys::remove_xattr(upper, kProbe);
  return Error(Code::unsupported,
               "the file system of " + printable(path.str()) +
                   " keeps no extended attributes, so it cannot hold what a view changes")
      .set_remedy("set PADDOCK_HOME to a directory on a local ext4, xfs or btrfs");
}

Status make_work(const HostPath& work, const sys::DirFd& upper) {
  PD_TRY(sys::make_dir(work.str(), 0700));
  struct stat st {};
  if (::fstat(upper.get(), &st) != 0) return Error::from_errno(errno, "examining an upper");
  if (st.st_uid == ::geteuid() && st.st_gid == ::getegid()) return {};
  if (::chown(work.c_str(), st.st_uid, st.st_gid) == 0) return {};
  return Error::from_errno(errno, "giving the work directory to the workspace's owner");
}

}  // namespace

HostPath views_dir(const HostPath& home) {
  return home / "views";
}

Result<model::UpperDirs> make_upper(const ViewDirs& dirs, size_t tree, uint32_t number,
                                    const HostPath& like) {
  model::UpperDirs made{dirs.layer(tree, number), dirs.work(tree, number)};
  PD_TRY(sys::make_dir(dirs.tree(tree).str(), 0700));
  PD_TRY(sys::make_dir(dirs.step(tree, number).str(), 0700));
  PD_TRY(sys::make_dir(made.upper.str(), 0700));
  sys::DirFd upper = PD_TRY(sys::open_dir(made.upper.str()));
  PD_TRY(check_xattrs(upper, made.upper));
  sys::DirFd below = PD_TRY(sys::open_dir(like.str()));
  PD_TRY(copy_dir_attributes(below, upper));
  PD_TRY(make_work(made.work, upper));
  return made;
}

Result<bool> is_unchanged(const HostPath& upper) {
  sys::DirFd dir = PD_TRY(sys::open_dir(upper.str()));
  auto entries = PD_TRY(sys::list_dir(dir));
  return entries.empty();
}

}  // namespace paddock::view
