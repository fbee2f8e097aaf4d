#include "isolation/container/remedies.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/mount_table.h"

namespace paddock::isolation::container {
namespace {

// nullopt where the kernel has no such setting.
std::optional<uint64_t> setting(const char* path) {
  auto text = sys::read_file(path, 64);
  return text.ok() ? parse_u64(trim(*text)) : std::nullopt;
}

bool inside_docker() {
  return sys::exists("/.dockerenv") || sys::exists("/run/.containerenv");
}

// The kernel shows no mount at "/" to who was chrooted into a plain directory.
bool inside_chroot() {
  auto mounts = sys::mount_points();
  return mounts.ok() && std::find(mounts->begin(), mounts->end(), "/") == mounts->end();
}

constexpr const char* kNestedRemedy =
    "this runs inside a container: start that one with `--security-opt seccomp=unconfined "
    "--security-opt systempaths=unconfined` (and `--security-opt apparmor=unconfined` where "
    "AppArmor "
    "is on), or run Paddock on the host";

}  // namespace

std::string user_namespace_remedy() {
  if (setting("/proc/sys/user/max_user_namespaces") == 0u) {
    return "user namespaces are switched off: `sysctl -w user.max_user_namespaces=15000`";
  }
  if (setting("/proc/sys/kernel/unprivileged_userns_clone") == 0u) {
    return "this host lets only root make user namespaces: `sysctl -w "
           "kernel.unprivileged_userns_clone=1`, or start as root";
  }
  if (setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1u) {
    return "AppArmor keeps ordinary users from using user namespaces: install Paddock's profile "
           "with "
           "`userns,` for its program, or `sysctl -w "
           "kernel.apparmor_restrict_unprivileged_userns=0`";
  }
  if (inside_docker()) return kNestedRemedy;
  if (inside_chroot()) {
    return "this runs in a chroot, where the kernel makes no user namespace: enter the directory "
           "with "
           "systemd-nspawn or pivot_root(8), or run outside of it";
  }
  return {};
}

Error explain_namespaces(Error error) {
  int number = error.errno_value();
  Error out(Code::unsupported, error.describe());
  if (number == EINVAL || number == ENOSYS) {
    return std::move(out).set_remedy(
        "the kernel lacks one of the namespaces user, time and cgroup, or is older than 6.1");
  }
  if (number == ENOSPC || number == EUSERS) {
    std::string remedy = user_namespace_remedy();
    return std::move(out).set_remedy(
        remedy.empty() ? "raise user.max_user_namespaces, max_net_namespaces and the like"
                       : remedy);
  }
  std::string remedy = user_namespace_remedy();
  if (remedy.empty()) remedy = "see `paddock doctor`";
  return std::move(out).set_remedy(std::move(remedy));
}

Error explain_mount(const Step& step, int error) {
  Error out = Error::from_errno(error, describe(step));
  // The first mount is refused where namespaces may be made but not used (AppArmor).
  if (std::holds_alternative<step::MountScratch>(step) && (error == EPERM || error == EACCES)) {
    return explain_namespaces(std::move(out));
  }
  if (std::holds_alternative<step::MountFileSystem>(step) && error == EPERM) {
    return std::move(out).set_remedy(kNestedRemedy);
  }
  if (std::holds_alternative<step::MountOverlay>(step)) {
    if (error == EINVAL) {
      return std::move(out).set_remedy(
          "a layer may hold a mount point, or lie on a file system that overlayfs does not take "
          "(upper: no NFS, no overlayfs), or the work directory served before; the kernel log has "
          "the reason");
    }
    if (error == ENOENT || error == ENODEV) {
      return std::move(out).set_remedy("the kernel has no overlayfs: `modprobe overlay`");
    }
  }
  if (error == ELOOP) {
    return std::move(out).set_remedy(
        "the path inside goes through a symlink: mount on what it names");
  }
  if (error == ENOENT || error == EROFS) {
    return std::move(out).set_remedy(
        "the mount point is missing and may not be made there: make it first, or choose a target "
        "outside of the workspace and of other mounts");
  }
  return out;
}

Error weak_root_error() {
  return Error(Code::unsupported, "started by root without the capabilities to be nobody inside")
      .set_remedy(
          "start as an ordinary user, or give root CAP_SYS_ADMIN, CAP_SETUID and CAP_SETGID");
}

}  // namespace paddock::isolation::container
