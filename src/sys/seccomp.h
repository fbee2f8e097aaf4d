// Seccomp filters and their listener.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

enum class Listener { none, wanted };

// Confines the calling thread and all that come from it; call it while there is only one. Sets
// no_new_privs. The returned descriptor receives what the filter answers with
// SECCOMP_RET_USER_NOTIF; it is not open when no listener is wanted.
Result<Fd> install_seccomp_filter(std::span<const sock_filter> filter, Listener listener);

struct SyscallNotification {
  uint64_t id;
  uint32_t pid;  // in the caller's pid namespace; 0 when it has no number there
  int number;
};

// The next call that waits for an answer; nullopt: its caller died meanwhile, ask again. Blocks.
Result<std::optional<SyscallNotification>> receive_notification(const Fd& listener);
// Whether the caller still waits, so that its pid is still its own (seccomp_unotify(2)).
bool is_still_waiting(const Fd& listener, uint64_t id);
// The call fails with `error`. A caller that died meanwhile is no error.
void refuse_notification(const Fd& listener, uint64_t id, int error);

}  // namespace paddock::sys
