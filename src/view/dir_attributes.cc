#include "view/dir_attributes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sys/xattr.h"

namespace paddock::view {
namespace {

// Namespaces that only root may write, or that a security module rules: what cannot be set there
// does not change what the sandbox may do, for it is denied by more than this directory.
bool is_optional(const std::string& name) {
  return name.compare(0, 9, "security.") == 0 || name.compare(0, 8, "trusted.") == 0;
}

Status copy_xattrs(const sys::DirFd& from, const sys::DirFd& to) {
  auto wanted = PD_TRY(sys::read_xattrs(from));
  auto present = PD_TRY(sys::read_xattrs(to));
  for (const sys::Xattr& xattr : wanted) {
    bool same = std::find(present.begin(), present.end(), xattr) != present.end();
    if (same || is_overlay_xattr(xattr.name)) continue;
    Status set = sys::set_xattr(to, xattr);
    if (!set.ok() && !is_optional(xattr.name)) return set;
  }
  for (const sys::Xattr& xattr : present) {
    bool stays = std::any_of(wanted.begin(), wanted.end(),
                             [&](const sys::Xattr& other) { return other.name == xattr.name; });
    if (stays || is_overlay_xattr(xattr.name)) continue;
    Status removed = sys::remove_xattr(to, xattr.name);
    if (!removed.ok() && !is_optional(xattr.name)) return removed;
  }
  return {};
}

}  // namespace

bool is_overlay_xattr(const std::string& name) {
  constexpr std::array<std::string_view, 2> kPrefixes{"user.overlay.", "trusted.overlay."};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view prefix) {
    return name.compare(0, prefix.size(), prefix) == 0;
  });
}

Result<OwnerCopy> copy_dir_attributes(const sys::DirFd& from, const sys::DirFd& to) {
  struct stat source {
  }, target{};
  if (::fstat(from.get(), &source) != 0 || ::fstat(to.get(), &target) != 0) {
    return Error::from_errno(errno, "examining a directory");
  }
  OwnerCopy owner = OwnerCopy::exact;
  if (source.st_uid != target.st_uid || source.st_gid != target.st_gid) {
    if (::fchown(to.get(), source.st_uid, source.st_gid) != 0) {
      // EINVAL: the owner is nobody in this user namespace.
      if (errno != EPERM && errno != EINVAL) {
        return Error::from_errno(errno, "giving a directory its owner");
      }
      owner = OwnerCopy::not_permitted;
    }
  }
  // The mode after the owner, which clears bits; access lists after the mode, which they refine.
  if (::fchmod(to.get(), source.st_mode & 07777) != 0) {
    return Error::from_errno(errno, "giving a directory its mode");
  }
  PD_TRY(copy_xattrs(from, to));
  std::array<struct timespec, 2> times{source.st_atim, source.st_mtim};
  if (::futimens(to.get(), times.data()) != 0)
    return Error::from_errno(errno, "giving a directory its times");
  return owner;
}

}  // namespace paddock::view
