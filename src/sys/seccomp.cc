#include "sys/seccomp.h"

#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sys/uapi_compat.h"

namespace paddock::sys {
namespace {

long load(const sock_fprog& program, unsigned long flags) {
  // SAFETY: the program outlives the call; the kernel checks and copies it.
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

}  // namespace

Result<Fd> install_seccomp_filter(std::span<const sock_filter> filter, Listener listener) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Error::from_errno(errno, "setting no_new_privs");
  }
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()),
                           .filter = const_cast<sock_filter*>(filter.data())};
  if (listener == Listener::none) {
    if (load(program, 0) != 0) return Error::from_errno(errno, "loading the seccomp filter");
    return Fd();
  }
  // Killable: a caller that is interrupted by a signal every few milliseconds would otherwise
  // restart its call for ever (5.19).
  const long fd =
      load(program, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
  if (fd < 0) return Error::from_errno(errno, "loading the seccomp filter with a listener");
  Fd owner(static_cast<int>(fd));
  // Before 6.6 the wake-up crosses processors, which costs time and nothing else.
  (void)::ioctl(owner.get(), uapi::kSeccompNotifySetFlags, uapi::kSeccompNotifySyncWakeUp);
  return owner;
}

Result<std::optional<SyscallNotification>> receive_notification(const Fd& listener) {
  seccomp_notif notification{};  // must be zero
  if (::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &notification) != 0) {
    if (errno == ENOENT || errno == EINTR) return std::optional<SyscallNotification>();
    return Error::from_errno(errno, "receiving a system call");
  }
  return std::optional<SyscallNotification>(
      {.id = notification.id, .pid = notification.pid, .number = notification.data.nr});
}

bool is_still_waiting(const Fd& listener, uint64_t id) {
  return ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

void refuse_notification(const Fd& listener, uint64_t id, int error) {
  seccomp_notif_resp answer{.id = id, .val = 0, .error = -error, .flags = 0};
  (void)::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

}  // namespace paddock::sys
