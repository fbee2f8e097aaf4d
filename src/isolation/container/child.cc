#include "isolation/container/child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "isolation/container/mount_runner.h"
#include "sys/capability_limits.h"
#include "sys/credentials.h"
#include "sys/fd_passing.h"
#include "sys/raw_calls.h"

// SAFETY: everything in this file runs between clone and exec in a copy of the parent's memory:
// kernel calls and reads of the plan only, no allocation, no lock.

namespace paddock::isolation::container {
namespace {

constexpr int kOutOfTheWay = 64;  // above every descriptor that the agent is given

class Child {
 public:
  explicit Child(const ChildPlan& plan) : plan_(plan) {}

  // Returns only on failure.
  int run() {
    if (!wait_for_go()) return 1;
    if (become() != 0) return fail(Stage::identity);
    if (::sethostname(plan_.hostname.data(), plan_.hostname.size()) != 0) {
      return fail(Stage::hostname);
    }
    int program = open_agent();
    if (program < 0) return fail(Stage::exec);
    MountRunResult mounted = run_mount_program(*plan_.mounts);
    if (mounted.error != 0) {
      errno = mounted.error;
      return fail(Stage::mounts, mounted.step);
    }
    if (sys::raw_send_fd(control_, mounted.scratch) != 0) return fail(Stage::descriptors);
    if (confine() != 0) return fail(Stage::confine);
    if (arrange_descriptors(program) != 0) return fail(Stage::descriptors);
    return execute();
  }

 private:
  // The parent's end of the socket closes when it dies, once our copy of it is closed.
  bool wait_for_go() {
    for (int fd : plan_.parents_ends) ::close(fd);
    char go = 0;
    ssize_t n = -1;
    do {
      n = ::recv(plan_.control, &go, 1, 0);
    } while (n < 0 && errno == EINTR);
    return n == 1;
  }

  int fail(Stage stage, uint32_t step = 0) {
    ChildFailure failure{stage, step, errno};
    (void)::send(control_, &failure, sizeof failure, MSG_NOSIGNAL);
    return 1;
  }

  int become() {
    ::umask(0);
    ::setsid();  // no controlling terminal of the host
    if (plan_.identity == ChildPlan::Identity::keep) return 0;
    return sys::raw_take_ids(0, 0);
  }

  // A clone mount of the program's file, read-only, attached nowhere: /proc/self/exe of the agent
  // is a file that cannot be written through any path, and no path inside leads to it.
  int open_agent() {
    if (plan_.agent.fd >= 0) return plan_.agent.fd;
    int mount =
        ::open_tree(AT_FDCWD, plan_.agent.path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (mount < 0) return -1;
    constexpr unsigned long kAttributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    return sys::raw_set_mount_attributes(mount, kAttributes, 0) == 0 ? mount : -1;
  }

  int confine() {
    ::umask(022);
    if (limit_cpus() != 0 || disable_core_dumps() != 0) return -1;
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    if (sys::limit_capabilities(plan_.capabilities) != 0) return -1;
    reset_signals();
    if (plan_.lifetime != Lifetime::bound) return 0;
    // After the last change of credentials, which would clear it.
    return ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  }

  int limit_cpus() const {
    cpu_set_t allowed;
    if (plan_.cpus == 0) return 0;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
    unsigned kept = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed) && kept++ >= plan_.cpus) CPU_CLR(cpu, &allowed);
    }
    return ::sched_setaffinity(0, sizeof allowed, &allowed);
  }

  // 1 and not 0: with 0 a core_pattern that names a program is still run, on the host, as root,
  // with the sandbox's bytes; 1 is the kernel's mark for "none at all" (fs/coredump.c). The seccomp
  // table keeps it so.
  static int disable_core_dumps() {
    struct rlimit none {
      1, 1
    };
    return ::setrlimit(RLIMIT_CORE, &none);
  }

  static void reset_signals() {
    // What the parent ignores would stay ignored through exec.
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
  }

  // Agent's descriptors to their numbers, /dev/null to 0, 1 and 2, everything else closed by exec.
  int arrange_descriptors(int program) {
    program_ = ::fcntl(program, F_DUPFD_CLOEXEC, kOutOfTheWay);
    control_ = ::fcntl(control_, F_DUPFD_CLOEXEC, kOutOfTheWay);
    int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (program_ < 0 || control_ < 0 || null < 0) return -1;
    null = ::fcntl(null, F_DUPFD_CLOEXEC, kOutOfTheWay);
    int moved[kMaxAgentFds];
    size_t count = 0;
    for (int fd : plan_.agent_fds) moved[count++] = ::fcntl(fd, F_DUPFD_CLOEXEC, kOutOfTheWay);
    if (::close_range(0, ~0u, CLOSE_RANGE_CLOEXEC) != 0) return -1;
    for (int fd = 0; fd < kFirstAgentFd; ++fd) {
      if (::dup2(null, fd) < 0) return -1;
    }
    for (size_t i = 0; i < count; ++i) {
      if (moved[i] < 0 || ::dup2(moved[i], kFirstAgentFd + static_cast<int>(i)) < 0) return -1;
    }
    return 0;
  }

  int execute() {
    char* const environment[] = {nullptr};
    ::execveat(program_, "", plan_.argv.data(), environment, AT_EMPTY_PATH);
    return fail(Stage::exec);
  }

  const ChildPlan& plan_;
  int control_ = plan_.control;
  int program_ = -1;
};

}  // namespace

int child_main(void* plan) {
  return Child(*static_cast<const ChildPlan*>(plan)).run();
}

}  // namespace paddock::isolation::container
