// The agent's side of `sudo`: one forked process for each command that is asked for, which becomes
// its supervisor.
#pragma once

#include <sys/types.h>

#include <set>

#include "agent/oom_score.h"
#include "base/result.h"
#include "sys/fd.h"
#include "wire/agent.pb.h"

namespace paddock::agent::sudo {

// Whoever may ask (the sandbox's own user, and root) may become every user of the sandbox: what
// that gives is bounded by the agent's own capabilities, Landlock, seccomp and no_new_privs, which
// hold for such a command as for every other. Used on the agent's loop; nothing here waits.
class Service {
 public:
  // Makes the socket, for `setup.uid()` and root.
  static Result<Service> open(const wire::Setup& setup);

  const sys::SocketFd& listener() const { return listener_; }
  // Somebody has connected. `oom`: of what is forked.
  void on_ready(const OomScore& oom);
  bool owns(pid_t pid) const { return running_.contains(pid); }
  void on_reaped(pid_t pid) { running_.erase(pid); }

 private:
  Service(sys::SocketFd listener, const wire::Setup& setup)
      : listener_(std::move(listener)), setup_(setup) {}

  sys::SocketFd listener_;
  wire::Setup setup_;
  std::set<pid_t> running_;
};

}  // namespace paddock::agent::sudo
