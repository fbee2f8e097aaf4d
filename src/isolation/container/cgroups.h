// The cgroups of one sandbox: memory, pids and cpu limits where the host gives them, and the
// counters that say which limit was hit.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "model/denial.h"
#include "model/ids.h"
#include "model/outcome.h"
#include "model/settings.h"
#include "sys/cgroup.h"

namespace paddock::isolation::container {

// "limits.<what>" was hit `count` times; `option` raises it.
model::Denial limit_hit(const std::string& what, const std::string& option, uint64_t count);

// What this process may use of the host's cgroups. On a hybrid host the version 2 tree has no
// controllers but still kills and freezes as one.
struct CgroupHost {
  std::string unified;                      // directory for our version 2 cgroups; empty: none
  std::map<std::string, std::string> v1;    // controller → directory for ours
  std::vector<std::string> v2_controllers;  // enabled for children of `unified`
  std::string reason;                       // why a controller is missing, in words
  std::string remedy;

  enum class Version { none, v1, v2 };
  Version version_of(const std::string& controller) const;
};

// `mount`: /sys/fs/cgroup; `own_path`: our version 2 cgroup as /proc/self/cgroup names it.
struct CgroupSearch {
  std::string mount = "/sys/fs/cgroup";
  std::string own_path;
  bool privileged = false;  // may enable controllers at the top
};
CgroupHost find_cgroups(const CgroupSearch& search);
CgroupHost find_cgroups();  // of this process
// The nearest directory above `own` that gives its children controllers and where we may make and
// enter one: what systemd delegates to a user's services and scopes. Our own cgroup cannot serve:
// one with processes in it has no controllers for children. Empty: none.
std::string find_delegated_cgroup(const std::string& mount, std::string own);

// Owns the directories. Limits are in place before the process is moved in; attaching to version 1
// runs on a thread of its own because it waits for an RCU grace period.
class SandboxCgroups {
 public:
  SandboxCgroups() = default;
  SandboxCgroups(SandboxCgroups&&) = default;
  SandboxCgroups& operator=(SandboxCgroups&&) = default;
  ~SandboxCgroups();

  static Result<SandboxCgroups> make(const CgroupHost& host, const model::SandboxId& id,
                                     const model::Limits& limits);
  // Of a sandbox that another process started, whose agent is `pid`: wherever it made them.
  static SandboxCgroups adopt(const CgroupHost& host, const model::SandboxId& id, pid_t pid);
  // Removes what a dead owner left. Idempotent.
  static Status reclaim(const CgroupHost& host, const model::SandboxId& id);

  // Version 2 directory for CLONE_INTO_CGROUP; -1: none.
  int birth_fd() const { return unified_.is_open() ? unified_.dir_fd() : -1; }
  void start_attaching(pid_t pid);
  // Waits for start_attaching(); its result, however often it is asked.
  Status attached() const;

  bool can_freeze() const { return unified_.is_open() && unified_.has("cgroup.freeze"); }
  Status freeze();  // returns when every process is stopped
  Status thaw();

  std::vector<model::Denial> limits_hit() const;
  uint64_t oom_kills() const;
  void fill(model::Usage& usage) const;

  // Kills what is left, removes the directories. Idempotent.
  Status remove();
  // They stay, and are nobody's.
  void release();

 private:
  struct Attach {
    std::thread thread;
    Status result;
  };
  const sys::Cgroup* find(const std::string& controller) const;
  Status wait_frozen(const char* state);

  sys::Cgroup unified_;
  bool unified_has_controllers_ = false;
  std::map<std::string, sys::Cgroup> v1_;
  std::unique_ptr<Attach> attach_;
};

}  // namespace paddock::isolation::container
