#include "agent/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "base/strings.h"
#include "sys/pty.h"
#include "sys/vfork.h"

namespace paddock::agent {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

Result<std::vector<std::string>> take_strings(
    const google::protobuf::RepeatedPtrField<std::string>& strings) {
  std::vector<std::string> out(strings.begin(), strings.end());
  for (const std::string& text : out) {
    if (text.find('\0') != std::string::npos) {
      return Error(Code::invalid_argument, "an argument or variable holds a zero byte");
    }
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  out.reserve(strings.size() + 1);
  for (std::string& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::string path_variable(const std::vector<std::string>& environment) {
  for (const std::string& variable : environment) {
    if (variable.starts_with("PATH=")) return variable.substr(5);
  }
  return std::string(kDefaultPath);
}

}  // namespace

Result<std::unique_ptr<LaunchPlan>> LaunchPlan::make(const wire::Start& start,
                                                     const wire::Setup& setup) {
  std::unique_ptr<LaunchPlan> plan(new LaunchPlan());
  PD_TRY(plan->take_identity(start, setup));
  plan->arguments_ = PD_TRY(take_strings(start.argv()));
  if (plan->arguments_.empty()) return Error(Code::invalid_argument, "the command has no argv");
  plan->environment_ = PD_TRY(take_strings(start.environment()));
  plan->directory_ = start.directory();
  plan->find_candidates(path_variable(plan->environment_));
  plan->argv_ = pointers(plan->arguments_);
  plan->envp_ = pointers(plan->environment_);
  static char shell[] = "/bin/sh";
  plan->shell_argv_ = {shell, nullptr};
  plan->shell_argv_.insert(plan->shell_argv_.end(), plan->argv_.begin() + 1, plan->argv_.end());
  if (start.landlock_unscoped()) plan->scope_ = sys::LandlockScope::files;
  for (const auto& rule : start.landlock()) {
    plan->rules_.push_back({rule.path(), rule.rights() == wire::PathRule::READ
                                             ? sys::PathRights::read
                                             : sys::PathRights::read_write});
  }
  for (const auto& limit : start.limits()) {
    plan->limits_.push_back({limit.resource(), {limit.value(), limit.value()}});
  }
  return plan;
}

Status LaunchPlan::take_identity(const wire::Start& start, const wire::Setup& setup) {
  sys::Identity wanted{setup.uid(), setup.gid(), {}};
  if (start.has_user()) {
    const wire::User& user = start.user();
    wanted = {user.uid(), user.gid(), {user.groups().begin(), user.groups().end()}};
  }
  if (setup.user_capabilities() != 0) {
    capabilities_ = wanted.uid == 0 ? setup.user_capabilities() : 0;
    identity_ = std::move(wanted);
    return {};
  }
  const bool is_the_one = wanted == sys::Identity{setup.uid(), setup.gid(), {}};
  return is_the_one ? Status() : Error::from_errno(EPERM, "becoming another user");
}

// As execvp(3): a name with a slash is a path; others are sought along PATH, where an empty element
// is the current directory.
void LaunchPlan::find_candidates(const std::string& variable) {
  const std::string& name = arguments_.front();
  if (name.empty() || name.find('/') != std::string::npos) {
    candidates_ = {name};
    return;
  }
  for (const std::string& element : split(variable, ':')) {
    candidates_.push_back(element.empty() ? name : element + "/" + name);
  }
}

Result<sys::LandlockRuleset> LaunchPlan::make_ruleset() const {
  sys::LandlockRuleset ruleset = PD_TRY(sys::LandlockRuleset::make(scope_));
  for (const Rule& rule : rules_) PD_TRY(ruleset.allow(rule.path, rule.rights));
  return ruleset;
}

LaunchPlan::Launched LaunchPlan::launch(int ruleset) {
  outcome_ = {};
  ruleset_ = ruleset;
  const pid_t pid =
      sys::run_in_vfork([](void* self) { static_cast<LaunchPlan*>(self)->run_child(); }, this);
  if (pid < 0) return {.pid = 0, .failed = LaunchStep::exec, .error = errno};
  outcome_.pid = pid;
  return outcome_;
}

// SAFETY: between vfork and exec: async-signal-safe calls only; writes only members.
void LaunchPlan::run_child() {
  auto fail = [&](LaunchStep step, int error) {
    outcome_.failed = step;
    outcome_.error = error;
    ::_exit(127);
  };
  for (int i = 0; i < 3; ++i) {
    if (::dup2(streams[i].get(), i) < 0) fail(LaunchStep::streams, errno);
  }
  if (session == SessionKind::terminal) {
    if (int error = sys::begin_terminal_session()) fail(LaunchStep::terminal, error);
  } else if (::setpgid(0, 0) != 0) {
    fail(LaunchStep::terminal, errno);
  }
  for (const Limit& limit : limits_) {
    if (::setrlimit(static_cast<__rlimit_resource_t>(limit.resource), &limit.value) != 0) {
      fail(LaunchStep::limits, errno);
    }
  }
  // Before the change of user: the caller's own directory stays, whoever may enter it.
  if (from_directory.is_open() && ::fchdir(from_directory.get()) != 0) {
    fail(LaunchStep::directory, errno);
  }
  if (identity_) {
    if (int error = sys::raw_become(*identity_, capabilities_)) fail(LaunchStep::identity, error);
  }
  if (!directory_.empty() && ::chdir(directory_.c_str()) != 0) fail(LaunchStep::directory, errno);
  if (ruleset_ >= 0) {
    if (int error = sys::enter_landlock_domain(ruleset_)) fail(LaunchStep::landlock, error);
  }
  if (::close_range(3, ~0U, 0) != 0) fail(LaunchStep::streams, errno);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  fail(LaunchStep::exec, exec_program());
}

// Returns only when no candidate could be executed, with the errno that execvp(3) would give.
int LaunchPlan::exec_program() {
  int error = ENOENT;
  for (std::string& path : candidates_) {
    ::execve(path.c_str(), argv_.data(), envp_.data());
    if (errno == ENOEXEC) {  // no format that the kernel knows: a script without #!
      shell_argv_[1] = path.data();
      ::execve(shell_argv_[0], shell_argv_.data(), envp_.data());
      return errno;
    }
    const bool try_next = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    if (errno != ENOENT && errno != ENOTDIR) error = errno;
    if (!try_next) return error;
  }
  return error;
}

}  // namespace paddock::agent
