// From a Start message to a process that runs the command's program.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/supervisor_messages.h"
#include "base/result.h"
#include "sys/credentials.h"
#include "sys/fd.h"
#include "sys/landlock.h"
#include "wire/agent.pb.h"

namespace paddock::agent {

enum class SessionKind { process_group, terminal };

// All that it takes to launch a command, made before the fork, so that nothing is allocated between
// vfork and exec. Immovable: it holds pointers into itself.
class LaunchPlan {
 public:
  // invalid_argument: no argv, or a zero byte in a string.
  // permission_denied (EPERM): another user than the sandbox's one.
  static Result<std::unique_ptr<LaunchPlan>> make(const wire::Start& start,
                                                  const wire::Setup& setup);
  LaunchPlan(const LaunchPlan&) = delete;
  LaunchPlan& operator=(const LaunchPlan&) = delete;

  // Standard input, output and error of the command; all three are open.
  sys::Fd streams[3];
  // Where the command's directory is looked for; not open: where the agent is.
  sys::Fd from_directory;
  SessionKind session = SessionKind::process_group;

  // Whom it runs as. Nobody else where the sandbox has one user, who the agent is.
  const std::optional<sys::Identity>& identity() const { return identity_; }
  bool wants_landlock() const { return !rules_.empty(); }
  Result<sys::LandlockRuleset> make_ruleset() const;

  struct Launched {
    pid_t pid = 0;  // of the process, also when exec failed; reap it
    LaunchStep failed = LaunchStep::none;
    int error = 0;
  };
  // Starts the program in a vfork child and returns when it runs or has failed. `ruleset` -1: no
  // Landlock domain. Call from a single-threaded process whose signals are blocked.
  Launched launch(int ruleset);

 private:
  struct Rule {
    std::string path;
    sys::PathRights rights;
  };
  struct Limit {
    int resource;
    rlimit value;
  };

  LaunchPlan() = default;
  void find_candidates(const std::string& path_variable);
  Status take_identity(const wire::Start& start, const wire::Setup& setup);
  void run_child();  // does not return
  int exec_program();

  std::vector<std::string> arguments_;
  std::vector<std::string> environment_;
  std::vector<std::string> candidates_;  // the program's possible paths, in PATH's order
  std::vector<char*> argv_;
  std::vector<char*> shell_argv_;  // /bin/sh, a candidate, the arguments
  std::vector<char*> envp_;
  std::string directory_;
  std::optional<sys::Identity> identity_;
  uint64_t capabilities_ = 0;  // of uid 0
  std::vector<Rule> rules_;
  sys::LandlockScope scope_ = sys::LandlockScope::files_and_processes;
  std::vector<Limit> limits_;
  int ruleset_ = -1;
  Launched outcome_;
};

}  // namespace paddock::agent
