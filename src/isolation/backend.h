// The contract of an isolation level. A backend builds the isolation, starts paddock-agent as PID 1
// in it and hands over one byte stream to the agent; on the live sandbox it freezes, thaws, reads
// usage and destroys, from outside. What happens inside (commands, terminals, files) is the
// agent's, over the stream, the same at every level. isolation/testing/conformance.h holds the
// suite that each backend passes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/decision.h"
#include "model/denial.h"
#include "model/ids.h"
#include "model/mounts.h"
#include "model/outcome.h"
#include "model/paths.h"
#include "model/settings.h"
#include "sys/fd.h"
#include "wire/agent.pb.h"

namespace paddock::isolation {

// `one`: every command is SandboxPlan::user, and nobody can be anybody else. `several`: root and
// the users of /etc/passwd exist inside, `sudo` there leads to them, and root holds what makes one
// user another (sys::kUserCapabilities) and nothing more. Needs ids of the sandbox's own.
enum class Users { one, several };

// `bound`: the sandbox dies with the process that started it (`run`). `leased`: once its agent was
// told Adopt it outlives that process, until its deadline (daemon); before, it dies with its
// stream.
enum class Lifetime { bound, leased };

// Where there are several users and no tree at /: as `home`, of root.
inline constexpr const char* kRootHome = "/root";

struct SandboxPlan {
  model::SandboxId id;
  model::FileSystem files;
  model::Limits limits;
  model::GuestPath home;  // made empty and private; on the scratch tmpfs
  // Uid and gid of commands and of `home`, as seen inside. Where the host gives the sandbox one id
  // alone (started by a user without a level that has ids of its own), it is that one instead.
  uint32_t user = 0;
  Users users = Users::one;
  std::string hostname;
  model::HostPath agent_program;  // static executable
  model::HostPath state_dir;      // sandboxes/<id>: exists, private to this sandbox
  Lifetime lifetime = Lifetime::bound;
  // Descriptors of the caller's that the agent holds as long as it lives, and passes on to nobody:
  // locks, by which others see that it does.
  std::vector<int> held;
  // Uppers for trees of `files` that have none of their own and would otherwise write to scratch,
  // by their place. Unlike theirs, these lie over trees that may belong to anybody.
  std::map<model::GuestPath, model::UpperDirs> kept_uppers;
  // What /proc/sys/kernel/random/boot_id shows; empty: the machine's.
  std::string boot_id;
  // Paths inside that no command may write, or read at all (FileRules::deny).
  std::vector<model::GuestPath> denied_paths;
};

// A leased sandbox, as it is on record.
struct Adoption {
  model::SandboxId id;
  model::HostPath state_dir;
  model::Limits limits;
  model::GuestPath home;
  int pid = 0;            // of its agent, outside
  int64_t pid_start = 0;  // sys::start_time_of
  std::vector<model::Control> controls;
  wire::Start confinement;  // what confine() filled in
};

// One control or level of this host, proved by doing it.
struct Probe {
  std::string name;  // "container", "container.cgroup.memory", "microvm.kvm"
  model::ControlState state;
  std::string proof;   // what was tried and what came back
  std::string remedy;  // how to get it; empty when enforced
};

// A running sandbox. Owned by one thread at a time. Its destructor destroys what is left.
class Sandbox {
 public:
  virtual ~Sandbox() = default;

  // The byte stream to the agent, non-blocking. Owned by the sandbox.
  virtual const sys::SocketFd& stream() const = 0;
  // Becomes readable when the agent (and with it every process of the sandbox) is gone.
  virtual const sys::PidFd& agent() const = 0;

  // What to send to the agent first, and what it must report back for this sandbox to be kept.
  virtual wire::Setup setup() const = 0;
  // Mismatches between the decision and the agent's report, in words; empty: it holds. Waits for
  // what start() left under way (limits): nothing of the caller's may run before.
  virtual std::vector<std::string> check(const wire::Evidence& evidence) const = 0;
  // Fills landlock and limits of a command that is to run in this sandbox.
  virtual void confine(wire::Start& start) const = 0;

  virtual const std::vector<model::Control>& controls() const = 0;
  // Limits that were hit so far (pids, memory, disk), as data.
  virtual std::vector<model::Denial> limits_hit() = 0;
  virtual bool oom_killed() = 0;
  virtual model::Usage usage() = 0;

  // How its processes can be stopped. Enforced: by freeze(). Approximated: by the agent
  // (wire::Hold).
  virtual model::Control pausing() const = 0;
  // Stops and continues every process. freeze() returns when all are stopped.
  virtual Status freeze() = 0;
  virtual Status thaw() = 0;

  // Swaps the root for one made of `files` (same trees, other layers). The sandbox must be idle:
  // failed_precondition otherwise.
  virtual Status replace_files(const model::FileSystem& files) = 0;

  // Kills everything, waits for it, removes cgroups and what else is left. Idempotent.
  virtual Status destroy() = 0;
  // Of a leased one: it goes on, and this object has nothing to do with it any more. Only to be
  // destroyed afterwards.
  virtual void let_go() = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual model::Level level() const = 0;
  // Whether this host gives the level, and each of its controls. Does the real thing; takes
  // milliseconds to seconds.
  virtual std::vector<Probe> probe() = 0;
  // The controls as they would be decided for `plan`, without starting anything.
  virtual std::vector<model::Control> decide(const SandboxPlan& plan) = 0;
  // Everything the kernel will hold for the sandbox carries plan.id. On error nothing is left.
  // unsupported: the host cannot give the level; the remedy says what to do. A bound sandbox must
  // be started from a thread that outlives it: its death signal is that thread's.
  virtual Result<std::unique_ptr<Sandbox>> start(const SandboxPlan& plan) = 0;
  // A leased sandbox that another process started, with a new stream to its agent. setup() and
  // check() have nothing to say of it. not_found: its agent is not there any more, or not the one
  // that is on record. unsupported: this level has none that outlive their process. On error it
  // goes on as it was.
  virtual Result<std::unique_ptr<Sandbox>> adopt(const Adoption& adoption) = 0;
  // Removes what a sandbox whose owner died left in the kernel (cgroups; mounts and namespaces go
  // with their processes). Idempotent.
  virtual Status reclaim(const model::SandboxId& id) = 0;
};

}  // namespace paddock::isolation
