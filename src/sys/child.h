// Starting a process in namespaces of its own, and owning it.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

// How a process ended.
struct Exit {
  int code = 0;            // exit status; 128 + signal when a signal ended it
  struct rusage usage {};  // of it and of the children it waited for
};

// Owns a child process by pidfd: the destructor kills it (SIGKILL) and reaps it. Move-only, one
// thread at a time. The pid stays valid until it is reaped here.
class Process {
 public:
  Process() = default;
  Process(pid_t pid, PidFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  // One that is no child of ours, the one that began at `start_time` (sys::start_time_of): owned
  // all the same, but others reap it. not_found: it is gone.
  static Result<Process> adopt(pid_t pid, int64_t start_time);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  const PidFd& pidfd() const { return pidfd_; }
  // Set once it has ended; of one that others reap it says nothing more.
  const std::optional<Exit>& exit() const { return exit_; }

  // Success when it is gone already.
  Status signal(int number) const;
  // Reaps it when it has ended; never blocks.
  bool has_ended();
  // SIGKILL, then waits for its end (PID 1 of a namespace ends after every process in it).
  // Idempotent.
  Status kill_and_wait();
  // It goes on, and is nobody's.
  void release();

 private:
  Status wait_as_stranger();

  pid_t pid_ = -1;
  PidFd pidfd_;
  std::optional<Exit> exit_;
  bool is_child_ = true;
};

struct CloneOptions {
  uint64_t flags = 0;  // CLONE_NEW*
  int cgroup_fd = -1;  // directory of a cgroup v2 to be born in
};

// Runs in the child, between clone and exec: async-signal-safe calls only, no allocation. Its
// result is the exit status. It starts with every signal blocked and no handler.
using ChildMain = int (*)(void* argument);

// clone3(2) with copied memory and descriptors. permission_denied, unsupported or
// resource_exhausted where the kernel refuses the namespaces.
Result<Process> clone_child(const CloneOptions& options, ChildMain main, void* argument);

}  // namespace paddock::sys
