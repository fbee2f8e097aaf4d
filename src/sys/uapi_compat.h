// Kernel constants newer than the headers of Debian 12 (6.1), each with the kernel that brought it.
#pragma once

#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>

#include <cstdint>

namespace paddock::sys::uapi {

// Landlock ABI 3 (6.2) and 5 (6.10).
inline constexpr uint64_t kLandlockTruncate = 1ULL << 14;
inline constexpr uint64_t kLandlockIoctlDev = 1ULL << 15;

// Landlock ABI 6 (6.12).
inline constexpr uint64_t kLandlockScopeAbstractUnixSocket = 1ULL << 0;
inline constexpr uint64_t kLandlockScopeSignal = 1ULL << 1;

// struct landlock_ruleset_attr as of ABI 6; older kernels take a prefix of it.
struct LandlockRulesetAttr {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;  // ABI 4 (6.7)
  uint64_t scoped;              // ABI 6
};

// SECCOMP_IOCTL_NOTIF_SET_FLAGS (6.6): wake the listener and the caller on the same processor.
inline constexpr uint64_t kSeccompNotifySetFlags = SECCOMP_IOW(4, uint64_t);
inline constexpr uint64_t kSeccompNotifySyncWakeUp = 1ULL << 0;

}  // namespace paddock::sys::uapi
