#include "sys/child.h"

#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sys/pid.h"

extern "C" {
#include <sys/pidfd.h>  // lacks the guard in glibc 2.36
}

namespace paddock::sys {
namespace {

// No handler of ours may run in the child with half of our state.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

 private:
  sigset_t old_;
};

}  // namespace

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      exit_(std::move(other.exit_)),
      is_child_(other.is_child_) {}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    (void)kill_and_wait().ok();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    exit_ = std::move(other.exit_);
    is_child_ = other.is_child_;
  }
  return *this;
}

Process::~Process() {
  (void)kill_and_wait().ok();
}

Result<Process> Process::adopt(pid_t pid, int64_t start_time) {
  auto gone = [] { return Error(Code::not_found, "the process is gone"); };
  if (pid <= 0 || start_time <= 0) return gone();
  PidFd pidfd(::pidfd_open(pid, 0));
  if (!pidfd.is_open() && errno == ESRCH) return gone();
  if (!pidfd.is_open()) return Error::from_errno(errno, "opening a process");
  Process process(pid, std::move(pidfd));
  process.is_child_ = false;
  // Only now, when the number can go to nobody else. One that has ended may wait to be reaped.
  if (start_time_of(pid) == start_time && !process.has_ended()) return process;
  process.release();
  return gone();
}

void Process::release() {
  pid_ = -1;
  pidfd_.reset();
}

Status Process::signal(int number) const {
  if (pid_ < 0 || exit_) return {};
  if (::pidfd_send_signal(pidfd_.get(), number, nullptr, 0) == 0 || errno == ESRCH) return {};
  return Error::from_errno(errno, "signalling a process");
}

bool Process::has_ended() {
  if (pid_ < 0 || exit_) return true;
  if (!is_child_) {
    pollfd ended{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ended, 1, 0) != 1) return false;
    exit_ = Exit{};
    return true;
  }
  int status = 0;
  struct rusage usage {};
  if (::wait4(pid_, &status, WNOHANG, &usage) != pid_) return false;
  exit_ = Exit{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), usage};
  return true;
}

Status Process::kill_and_wait() {
  if (pid_ < 0 || exit_) return {};
  PD_TRY(signal(SIGKILL));
  if (!is_child_) return wait_as_stranger();
  int status = 0;
  struct rusage usage {};
  pid_t waited = -1;
  do {
    waited = ::wait4(pid_, &status, 0, &usage);
  } while (waited < 0 && errno == EINTR);
  if (waited != pid_) return Error::from_errno(errno, "waiting for a process");
  exit_ = Exit{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), usage};
  return {};
}

// Readable once it has ended, whoever reaps it (pidfd_open(2)).
Status Process::wait_as_stranger() {
  pollfd ended{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  while (::poll(&ended, 1, -1) < 0) {
    if (errno != EINTR) return Error::from_errno(errno, "waiting for a process");
  }
  exit_ = Exit{};
  return {};
}

Result<Process> clone_child(const CloneOptions& options, ChildMain main, void* argument) {
  int pidfd = -1;
  struct clone_args args {};
  args.flags = options.flags | CLONE_PIDFD | CLONE_CLEAR_SIGHAND;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);  // SAFETY: the kernel writes an int there
  args.exit_signal = SIGCHLD;
  if (options.cgroup_fd >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(options.cgroup_fd);
  }
  AllSignalsBlocked blocked;
  // SAFETY: without CLONE_VM this is a fork: the child goes on here on a copy of the stack. It
  // calls nothing but `main` and _exit.
  long pid = syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) _exit(main(argument));
  if (pid < 0) return Error::from_errno(errno, "starting a process in new namespaces");
  return Process(static_cast<pid_t>(pid), PidFd(pidfd));
}

}  // namespace paddock::sys
