#include "ssh/confinement.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <array>

#include "sys/call_allowlist.h"
#include "sys/landlock.h"
#include "sys/seccomp.h"

namespace paddock::ssh {
namespace {

// To read alone: libraries that are opened late (name services), and what they read.
constexpr std::array kOfTheSystem{"/lib",
                                  "/lib64",
                                  "/usr/lib",
                                  "/usr/lib64",
                                  "/usr/share/zoneinfo",
                                  "/etc/ld.so.cache",
                                  "/etc/localtime",
                                  "/etc/nsswitch.conf",
                                  "/etc/passwd",
                                  "/etc/ssl",
                                  "/dev/null",
                                  "/dev/urandom"};

constexpr std::array kCalls {
  // bytes of what is open
  sys::AllowedCall{SYS_read}, sys::AllowedCall{SYS_readv}, sys::AllowedCall{SYS_write},
      sys::AllowedCall{SYS_writev}, sys::AllowedCall{SYS_recvfrom}, sys::AllowedCall{SYS_recvmsg},
      sys::AllowedCall{SYS_sendto}, sys::AllowedCall{SYS_sendmsg}, sys::AllowedCall{SYS_shutdown},
      sys::AllowedCall{SYS_close}, sys::AllowedCall{SYS_lseek}, sys::AllowedCall{SYS_fcntl},
      sys::AllowedCall{SYS_ioctl}, sys::AllowedCall{SYS_getsockopt},
      sys::AllowedCall{SYS_setsockopt}, sys::AllowedCall{SYS_getsockname},
      sys::AllowedCall{SYS_getpeername},
      // waiting
      sys::AllowedCall{SYS_ppoll}, sys::AllowedCall{SYS_pselect6}, sys::AllowedCall{SYS_futex},
      sys::AllowedCall{SYS_nanosleep}, sys::AllowedCall{SYS_clock_nanosleep},
      sys::AllowedCall{SYS_clock_gettime}, sys::AllowedCall{SYS_gettimeofday},
      sys::AllowedCall{SYS_restart_syscall},
      // files, to read
      sys::AllowedCall{SYS_openat, 2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC},
      sys::AllowedCall{SYS_newfstatat}, sys::AllowedCall{SYS_statx}, sys::AllowedCall{SYS_fstat},
      sys::AllowedCall{SYS_faccessat}, sys::AllowedCall{SYS_readlinkat},
      sys::AllowedCall{SYS_getdents64}, sys::AllowedCall{SYS_pread64}, sys::AllowedCall{SYS_statfs},
      // memory
      sys::AllowedCall{SYS_brk}, sys::AllowedCall{SYS_mmap}, sys::AllowedCall{SYS_munmap},
      sys::AllowedCall{SYS_mremap}, sys::AllowedCall{SYS_mprotect}, sys::AllowedCall{SYS_madvise},
      // itself
      sys::AllowedCall{SYS_exit_group}, sys::AllowedCall{SYS_exit}, sys::AllowedCall{SYS_getpid},
      sys::AllowedCall{SYS_gettid}, sys::AllowedCall{SYS_tgkill}, sys::AllowedCall{SYS_getuid},
      sys::AllowedCall{SYS_geteuid}, sys::AllowedCall{SYS_getgid}, sys::AllowedCall{SYS_getegid},
      sys::AllowedCall{SYS_uname}, sys::AllowedCall{SYS_sysinfo}, sys::AllowedCall{SYS_getrandom},
      sys::AllowedCall{SYS_rt_sigaction}, sys::AllowedCall{SYS_rt_sigprocmask},
      sys::AllowedCall{SYS_rt_sigreturn}, sys::AllowedCall{SYS_sched_yield},
      sys::AllowedCall{SYS_set_robust_list}, sys::AllowedCall{SYS_rseq},
#if defined(__x86_64__)
      sys::AllowedCall{SYS_poll}, sys::AllowedCall{SYS_select}, sys::AllowedCall{SYS_time},
      sys::AllowedCall{SYS_open, 1, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC},
      sys::AllowedCall{SYS_stat}, sys::AllowedCall{SYS_lstat}, sys::AllowedCall{SYS_access},
      sys::AllowedCall{SYS_readlink}, sys::AllowedCall{SYS_arch_prctl},
#endif
};

Status close_files(const std::vector<std::string>& readable) {
  if (sys::landlock_abi() == 0) return {};  // the calls below still write to none
  auto ruleset = PD_TRY(sys::LandlockRuleset::make());
  for (const char* path : kOfTheSystem) PD_TRY(ruleset.allow(path, sys::PathRights::read));
  for (const std::string& path : readable) PD_TRY(ruleset.allow(path, sys::PathRights::read));
  const int error = sys::enter_landlock_domain(ruleset.fd().get());
  return error == 0 ? Status() : Error::from_errno(error, "closing the file system");
}

}  // namespace

// What it holds is a key or leads to one.
void hide() {
  const rlimit none{0, 0};
  const rlimit few{32, 32};
  ::setrlimit(RLIMIT_CORE, &none);
  ::setrlimit(RLIMIT_NOFILE, &few);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

Status confine(const std::vector<std::string>& readable) {
  PD_TRY_CTX("confining paddock-ssh", close_files(readable));
  const auto filter = sys::allow_only(kCalls);
  PD_TRY_CTX("confining paddock-ssh", sys::install_seccomp_filter(filter, sys::Listener::none));
  return {};
}

}  // namespace paddock::ssh
