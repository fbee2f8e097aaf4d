#include "agent/confinement.h"

#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "sys/capabilities.h"
#include "sys/capability_limits.h"
#include "sys/files.h"
#include "sys/seccomp.h"

namespace paddock::agent {
namespace {

// Where the namespace was made by an ordinary user without a range of ids the kernel denies
// setgroups(2), and the caller's groups stay; Evidence.groups shows them.
bool setgroups_is_denied() {
  auto text = sys::read_file("/proc/self/setgroups");
  return text.ok() && text->starts_with("deny");
}

Status drop_groups() {
  if (::getgroups(0, nullptr) == 0 || ::setgroups(0, nullptr) == 0) return {};
  if (errno == EPERM && setgroups_is_denied()) return {};
  return Error::from_errno(errno, "dropping supplementary groups");
}

// What is so already needs no capability.
Status become_user(uid_t uid, gid_t gid) {
  PD_TRY(drop_groups());
  if ((::getgid() != gid || ::getegid() != gid) && ::setresgid(gid, gid, gid) != 0) {
    return Error::from_errno(errno, "becoming group " + std::to_string(gid));
  }
  if ((::getuid() != uid || ::geteuid() != uid) && ::setresuid(uid, uid, uid) != 0) {
    return Error::from_errno(errno, "becoming user " + std::to_string(uid));
  }
  return {};
}

// Whatever the host asks for, no more than what makes one user of a sandbox another.
Status keep_capabilities(uint64_t wanted) {
  if ((wanted & ~sys::kUserCapabilities) != 0) {
    return Error(Code::invalid_argument, "capabilities that no sandbox has");
  }
  if (sys::hold_capabilities(wanted) == 0) return {};
  return Error::from_errno(errno, "keeping the agent's capabilities");
}

Result<sys::Fd> install_filter(const wire::Setup& setup) {
  const std::string& bytes = setup.seccomp_filter();
  if (bytes.empty()) return sys::Fd();
  if (bytes.size() % sizeof(sock_filter) != 0) {
    return Error(Code::invalid_argument, "the seccomp filter is not an array of instructions");
  }
  std::vector<sock_filter> filter(bytes.size() / sizeof(sock_filter));
  std::memcpy(filter.data(), bytes.data(), bytes.size());
  return sys::install_seccomp_filter(
      filter, setup.reported_syscalls().empty() ? sys::Listener::none : sys::Listener::wanted);
}

}  // namespace

Result<sys::Fd> confine(const wire::Setup& setup) {
  PD_TRY(sys::clear_bounding_set());
  if (setup.user_capabilities() == 0) {
    PD_TRY(become_user(setup.uid(), setup.gid()));
    PD_TRY(sys::drop_capabilities());
  } else {
    PD_TRY(become_user(0, 0));
    PD_TRY(keep_capabilities(setup.user_capabilities()));
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Error::from_errno(errno, "setting no_new_privs");
  }
  // After the last change of credentials, which would undo both.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return Error::from_errno(errno, "closing the agent to inspection");
  }
  if (setup.bound() && ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
    return Error::from_errno(errno, "binding the agent to its parent");
  }
  return install_filter(setup);
}

}  // namespace paddock::agent
