// Starts PID 1 of a container: from a plan to an agent that has been executed in its new root.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "isolation/backend.h"
#include "isolation/container/cgroups.h"
#include "isolation/container/host_facts.h"
#include "sys/child.h"
#include "sys/fd.h"
#include "sys/range_lock.h"
#include "sys/user_namespace.h"

namespace paddock::isolation::container {

// In the sandbox's state directory: where a later host reaches the agent of a leased sandbox.
inline constexpr const char* kAgentSocket = "agent.sock";

// A started container. Destroying it in this order undoes everything: process, cgroups, id range.
struct Launched {
  std::optional<sys::LockedNumber> id_range;  // started by root
  SandboxCgroups cgroups;
  sys::Fd scratch;  // of the scratch tmpfs, for asking how full it is
  sys::SocketFd stream;
  sys::IdMaps id_maps;
  sys::Process agent;
};

// Attaching to version 1 cgroups may still be under way: ask cgroups.attached() before anything
// runs.
Result<Launched> launch(const SandboxPlan& plan, const HostFacts& facts);

}  // namespace paddock::isolation::container
