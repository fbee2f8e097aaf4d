// PID 1 of a container from clone to exec of the agent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "isolation/backend.h"
#include "isolation/container/mount_program.h"

namespace paddock::isolation::container {

// What goes wrong in the child, sent to the parent as one record over the control socket. Before,
// when the mounts are done, goes a record of one byte with the scratch tmpfs: the parent sees by it
// whether it is full.
enum class Stage : uint32_t { identity, hostname, mounts, confine, descriptors, exec };
struct ChildFailure {
  Stage stage = Stage::identity;
  uint32_t step = 0;  // of the mount program
  int32_t error = 0;
};

// Descriptors that the agent keeps: numbers from kFirstAgentFd upwards, in this order.
inline constexpr int kFirstAgentFd = 3;
inline constexpr size_t kMaxAgentFds = 8;

// Everything the child reads. Prepared by the parent before clone, valid in the child's copy of its
// memory.
struct ChildPlan {
  const MountProgram* mounts = nullptr;
  std::vector<int>
      parents_ends;            // of sockets to us: to be closed, or we would not see the parent die
  int control = -1;            // SOCK_SEQPACKET: one byte in means go; a ChildFailure goes out
  std::vector<int> agent_fds;  // the stream first, then what is only held (locks)
  Source agent;                // static program
  std::vector<char*> argv;     // of the agent, NULL-terminated
  std::string hostname;
  uint64_t capabilities = 0;  // that the agent starts with
  unsigned cpus = 0;          // processors to run on, where only affinity can limit; 0: all
  Lifetime lifetime = Lifetime::bound;
  // Started by root: become id 0 of the new user namespace, with no supplementary groups.
  enum class Identity { keep, root_inside } identity = Identity::keep;
};

// ChildMain of sys::clone_child; `plan` is a const ChildPlan*. Does not return on success: the
// control socket is closed by exec, which tells the parent.
int child_main(void* plan);

}  // namespace paddock::isolation::container
