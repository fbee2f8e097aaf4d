// Capability sets of the calling thread. Async-signal-safe: usable between clone and exec.
#pragma once

#include <linux/capability.h>

#include <cstdint>

namespace paddock::sys {

constexpr uint64_t capability_bit(int capability) {
  return uint64_t{1} << capability;
}

// What root of a sandbox with several users holds there, and the agent by which they become one
// another. Nothing that reaches beyond files and processes of the sandbox's own ids.
inline constexpr uint64_t kUserCapabilities =
    capability_bit(CAP_CHOWN) | capability_bit(CAP_DAC_OVERRIDE) | capability_bit(CAP_FOWNER) |
    capability_bit(CAP_FSETID) | capability_bit(CAP_KILL) | capability_bit(CAP_SETGID) |
    capability_bit(CAP_SETUID);

// Reduces permitted, effective, inheritable and ambient sets to `keep` and makes uid 0 mean nothing
// (SECBIT_NOROOT, locked), so that a program executed next holds exactly `keep`, whatever its uid.
// The bounding set stays (emptying it takes a call per capability): with no_new_privs nothing is
// gained from it. Needs CAP_SETPCAP. -1 and errno on failure.
int limit_capabilities(uint64_t keep);

// The same for the sets alone: only less than what is permitted, and inheritable or in the bounding
// set.
int hold_capabilities(uint64_t keep);

// The capabilities that this thread holds effectively; 0 when they cannot be read.
uint64_t effective_capabilities();

}  // namespace paddock::sys
