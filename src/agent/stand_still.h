// Stops every process of the sandbox where no cgroup can do it from outside.
#pragma once

#include <sys/types.h>

#include <set>

#include "base/result.h"

namespace paddock::agent {

// By SIGSTOP to all at once: the kernel holds forks back meanwhile, so nobody is missed. Weaker
// than a frozen cgroup: parents see their children stop, and a program can arrange beforehand to be
// sent SIGCONT (a timer), which nobody can forbid.
class StandStill {
 public:
  // Returns when all stand; said again it keeps to what it knows. failed_precondition: this is no
  // PID 1, whose namespace "all" is. timed_out: some go on whatever they are sent; then all go on.
  Status stop();
  // But those that were stopped before.
  void go_on();
  bool is_on() const { return is_on_; }

 private:
  bool is_on_ = false;
  std::set<pid_t> stopped_before_;
};

}  // namespace paddock::agent
