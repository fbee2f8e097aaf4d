// Names of processes.
#pragma once

#include <sys/types.h>
#include <cstdint>

#include "sys/fd.h"

namespace paddock::sys {

// The pid in our own namespace of the process behind a pidfd; 0 when it is gone (pidfd_open(2),
// fdinfo).
pid_t pid_of(const PidFd& process);
// Field 22 of /proc/<pid>/stat, clock ticks since boot: with it a pid names one process for good.
// 0 when there is no such process.
int64_t start_time_of(pid_t pid);

}  // namespace paddock::sys
