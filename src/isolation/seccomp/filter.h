// The compiled seccomp filter of the shared-kernel levels, as the agent is to install it.
#pragma once

#include <linux/filter.h>

#include <span>

#include "wire/agent.pb.h"

namespace paddock::isolation::seccomp {

// The table, compiled when Paddock was built.
std::span<const sock_filter> filter();

// Sets seccomp_filter and reported_syscalls.
void fill(wire::Setup& setup);

}  // namespace paddock::isolation::seccomp
