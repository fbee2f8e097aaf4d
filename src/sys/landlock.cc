#include "sys/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sys/uapi_compat.h"

namespace paddock::sys {
namespace {

constexpr uint64_t kRead =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
// What can be granted on something that is no directory.
constexpr uint64_t kOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                              LANDLOCK_ACCESS_FS_WRITE_FILE | uapi::kLandlockTruncate |
                              uapi::kLandlockIoctlDev;

// Every file right that the ABI knows.
uint64_t handled_by(int abi) {
  uint64_t handled = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  if (abi >= 2) handled |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) handled |= uapi::kLandlockTruncate;
  if (abi >= 5) handled |= uapi::kLandlockIoctlDev;
  return handled;
}

}  // namespace

int landlock_abi() {
  // SAFETY: asks for the version only; no pointer is read.
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

Result<LandlockRuleset> LandlockRuleset::make(LandlockScope scope) {
  const int abi = landlock_abi();
  if (abi == 0) return Error(Code::unsupported, "this kernel has no Landlock");
  uapi::LandlockRulesetAttr attr{.handled_access_fs = handled_by(abi)};
  size_t size = sizeof attr.handled_access_fs;
  if (abi >= 6 && scope == LandlockScope::files_and_processes) {
    attr.scoped = uapi::kLandlockScopeAbstractUnixSocket | uapi::kLandlockScopeSignal;
    size = sizeof attr;
  }
  // SAFETY: `size` is the prefix of the structure that this ABI knows.
  const long fd = ::syscall(SYS_landlock_create_ruleset, &attr, size, 0);
  if (fd < 0) return Error::from_errno(errno, "creating a Landlock ruleset");
  return LandlockRuleset(Fd(static_cast<int>(fd)), attr.handled_access_fs);
}

Status LandlockRuleset::allow(const std::string& path, PathRights rights) {
  const Fd target(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!target.is_open()) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return Error::from_errno(errno, "opening " + path + " for a Landlock rule");
  }
  struct stat info {};
  if (::fstat(target.get(), &info) != 0) return Error::from_errno(errno, "reading " + path);
  uint64_t access = rights == PathRights::read ? kRead : handled_;
  if (!S_ISDIR(info.st_mode)) access &= kOfFiles;
  const landlock_path_beneath_attr attr{.allowed_access = access & handled_,
                                        .parent_fd = target.get()};
  // SAFETY: the attribute outlives the call.
  if (::syscall(SYS_landlock_add_rule, fd_.get(), LANDLOCK_RULE_PATH_BENEATH, &attr, 0) != 0) {
    return Error::from_errno(errno, "adding a Landlock rule for " + path);
  }
  return {};
}

int enter_landlock_domain(int ruleset_fd) {
  // SAFETY: no memory is involved.
  return ::syscall(SYS_landlock_restrict_self, ruleset_fd, 0) == 0 ? 0 : errno;
}

}  // namespace paddock::sys
