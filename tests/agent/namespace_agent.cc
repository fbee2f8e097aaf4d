#include "namespace_agent.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <grp.h>
#include <cerrno>

#include "applets.h"
#include "sys/capability_limits.h"
#include "sys/child.h"
#include "sys/files.h"
#include "sys/pipe.h"
#include "sys/raw_calls.h"
#include "sys/user_namespace.h"

namespace paddock::agent::testing {
namespace {

constexpr uid_t kOrdinaryUser = 41234;  // nobody's
constexpr char kRange[] = "0 1000000 65536";
constexpr char kRoot[] = "/tmp";  // hidden by a tmpfs in the child's own mount namespace
// What the container backend leaves to the agent.
constexpr uint64_t kCapabilities = sys::capability_bit(CAP_NET_ADMIN) |
                                   sys::capability_bit(CAP_NET_BIND_SERVICE) |
                                   sys::capability_bit(CAP_SETPCAP);

struct Program {
  const char* path;
  int fd;
};

struct Plan {
  Mapping mapping;
  uid_t uid;
  gid_t gid;
  int stream;
  int listener;
  int go;  // read side: a byte when the id maps are written
  Program programs[3];
  int64_t* exec_ns;
};

// The child and what becomes of it. A step that fails ends it with a status of its own.
class Child {
 public:
  explicit Child(const Plan& plan) : plan_(plan) {}

  int run() {
    if (!enter_namespaces()) return 101;
    const pid_t first = ::fork();
    if (first < 0) return 102;
    if (first == 0) ::_exit(run_first());
    for (int fd : {plan_.stream, plan_.listener}) ::close(fd);  // or it hides the agent's end
    int status = 0;
    while (::waitpid(first, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  bool enter_namespaces() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (plan_.mapping == Mapping::single_id && ::geteuid() != plan_.uid) {
      if (::setgroups(0, nullptr) != 0 || ::setresgid(plan_.gid, plan_.gid, plan_.gid) != 0 ||
          ::setresuid(plan_.uid, plan_.uid, plan_.uid) != 0) {
        return false;
      }
      ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // or /proc/self is root's
    }
    if (::unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC |
                  CLONE_NEWUTS) != 0) {
      return false;
    }
    if (plan_.mapping == Mapping::single_id) {
      const std::string id = std::to_string(plan_.uid);
      const std::string group = std::to_string(plan_.gid);
      return sys::write_id_maps(::getpid(), {id + " " + id + " 1", group + " " + group + " 1",
                                             sys::Setgroups::deny})
          .ok();
    }
    (void)!::write(plan_.stream, "m", 1);  // ask for the maps
    char byte = 0;
    return ::read(plan_.go, &byte, 1) == 1 && ::setgroups(0, nullptr) == 0 &&
           ::setresgid(0, 0, 0) == 0 && ::setresuid(0, 0, 0) == 0;
  }

  int run_first() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (!make_root()) return 103;
    if (!make_devices()) return 104;
    if (::chdir(kRoot) != 0 || sys::raw_pivot_root(".", ".") != 0 ||
        ::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) {
      return 105;
    }
    if (sys::limit_capabilities(kCapabilities) != 0) return 106;
    if (plan_.mapping == Mapping::single_id) ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    return execute();
  }

  bool make_root() {
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
    if (::mount("tmpfs", kRoot, "tmpfs", 0, "mode=0755") != 0 || ::chdir(kRoot) != 0) return false;
    for (const char* dir : {"bin", "dev", "dev/pts", "proc", "tmp", "etc"}) {
      if (::mkdir(dir, 0755) != 0) return false;
    }
    if (::chmod("tmp", 01777) != 0) return false;
    for (const Program& program : plan_.programs) {
      if (!copy(program)) return false;
    }
    for (const char* applet : kApplets) {
      if (::symlink("busybox", (std::string("bin/") + applet).c_str()) != 0) return false;
    }
    return ::mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
  }

  static bool copy(const Program& program) {
    struct stat info {};
    const sys::Fd to(::open(program.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755));
    if (!to.is_open() || ::fstat(program.fd, &info) != 0) return false;
    off_t at = 0;
    while (at < info.st_size) {
      if (::sendfile(to.get(), program.fd, &at, static_cast<size_t>(info.st_size - at)) <= 0) {
        return false;
      }
    }
    return true;
  }

  static bool make_devices() {
    for (const char* name : {"null", "zero", "urandom", "tty"}) {
      const std::string from = std::string("/dev/") + name;
      const std::string to = std::string("dev/") + name;
      const sys::Fd file(::open(to.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
      if (::mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) != 0) return false;
    }
    return ::mount("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                   "newinstance,ptmxmode=0666,mode=0620") == 0 &&
           ::symlink("pts/ptmx", "dev/ptmx") == 0;
  }

  int execute() {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    const int stream = ::fcntl(plan_.stream, F_DUPFD, 100);
    const int listener = ::fcntl(plan_.listener, F_DUPFD, 100);
    // A test that debugs the agent reads its words.
    for (int fd : {0, 1}) ::dup2(null, fd);
    ::dup2(stream, 3);
    ::dup2(listener, 4);
    ::close_range(5, ~0U, 0);
    char name[] = "paddock-agent";
    char option[] = "--stream-fd";
    char number[] = "3";
    char second_option[] = "--listen-fd";
    char second_number[] = "4";
    char* argv[] = {name, option, number, second_option, second_number, nullptr};
    char* envp[] = {nullptr};
    if (plan_.exec_ns != nullptr) {
      timespec now{};
      ::clock_gettime(CLOCK_MONOTONIC, &now);
      *plan_.exec_ns = now.tv_sec * 1'000'000'000 + now.tv_nsec;
    }
    ::execve("/bin/paddock-agent", argv, envp);
    return 107;
  }

  const Plan& plan_;
};

int child_main(void* plan) {
  return Child(*static_cast<const Plan*>(plan)).run();
}

// SAFETY: every socket address begins like sockaddr; the kernel goes by family and length.
const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

class NamespaceAgent : public RunningAgent {
 public:
  NamespaceAgent(sys::Process process, sys::SocketFd stream, const sockaddr_un& address,
                 socklen_t length)
      : process_(std::move(process)),
        stream_(std::move(stream)),
        address_(address),
        length_(length) {}

  Result<sys::SocketFd> connect() override {
    sys::SocketFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), generic(address_), length_) != 0) {
      return Error::from_errno(errno, "connecting to the agent");
    }
    return socket;
  }

  int stream() const override { return stream_.get(); }

  bool wait_gone(int ms) override {
    pollfd poll{.fd = process_.pidfd().get(), .events = POLLIN, .revents = 0};
    return ::poll(&poll, 1, ms) == 1;
  }

 private:
  sys::Process process_;
  sys::SocketFd stream_;
  sockaddr_un address_;
  socklen_t length_;
};

// At an address that the kernel chooses, in this network namespace and no sandbox's.
Result<sys::SocketFd> listen_somewhere(sockaddr_un& address, socklen_t& length) {
  sys::SocketFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  address.sun_family = AF_UNIX;
  length = sizeof address;
  if (::bind(listener.get(), generic(address), sizeof(sa_family_t)) != 0 ||
      ::listen(listener.get(), 8) != 0 ||
      // SAFETY: the kernel writes a unix address.
      ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return Error::from_errno(errno, "listening for hosts");
  }
  return listener;
}

Result<sys::FileFd> open_program(const std::string& path) {
  auto file = sys::open_file(path, O_RDONLY);
  if (file.ok()) return file;
  return Error(Code::unsupported, "needs busybox-static: " + file.error().describe());
}

}  // namespace

Result<std::unique_ptr<RunningAgent>> start_in_namespaces(Mapping mapping) {
  return start_in_namespaces(mapping, nullptr);
}

Result<std::unique_ptr<RunningAgent>> start_in_namespaces(Mapping mapping, int64_t* exec_ns) {
  if (mapping == Mapping::id_range && ::geteuid() != 0) {
    return Error(Code::unsupported, "needs root: mapping a range of ids");
  }
  const sys::FileFd busybox = PD_TRY(open_program("/bin/busybox"));
  const sys::FileFd guest = PD_TRY(open_program(PADDOCK_BINARY_DIR "/guests/agent-guest"));
  const sys::FileFd agent = PD_TRY(open_program(PADDOCK_BINARY_DIR "/bin/paddock-agent"));
  sys::SocketPair stream = PD_TRY(sys::make_socket_pair(SOCK_STREAM));
  sockaddr_un address{};
  socklen_t length = 0;
  const sys::SocketFd listener = PD_TRY(listen_somewhere(address, length));
  const sys::Pipe go = PD_TRY(sys::make_pipe());
  const bool ordinary = ::geteuid() != 0;
  Plan plan{.mapping = mapping,
            .uid = ordinary ? ::geteuid() : kOrdinaryUser,
            .gid = ordinary ? ::getegid() : kOrdinaryUser,
            .stream = stream.second.get(),
            .listener = listener.get(),
            .go = go.read.get(),
            .programs = {{"bin/busybox", busybox.get()},
                         {"bin/agent-guest", guest.get()},
                         {"bin/paddock-agent", agent.get()}},
            .exec_ns = exec_ns};
  sys::Process process = PD_TRY(sys::clone_child({}, child_main, &plan));
  stream.second.reset();
  if (mapping == Mapping::id_range) {
    char byte = 0;
    if (::read(stream.first.get(), &byte, 1) != 1) {
      return Error(Code::unsupported, "needs userns: a user namespace could not be made");
    }
    PD_TRY(sys::write_id_maps(process.pid(), {kRange, kRange, sys::Setgroups::allow}));
    (void)!::write(go.write.get(), "g", 1);
  }
  return std::unique_ptr<RunningAgent>(std::make_unique<NamespaceAgent>(
      std::move(process), std::move(stream.first), address, length));
}

wire::Setup setup_in_namespaces(Mapping mapping) {
  wire::Setup setup;
  setup.set_bound(true);
  setup.set_network_table(true);
  setup.set_denial_limit(1000);
  if (mapping == Mapping::single_id) {
    const bool ordinary = ::geteuid() != 0;
    setup.set_uid(ordinary ? ::geteuid() : kOrdinaryUser);
    setup.set_gid(ordinary ? ::getegid() : kOrdinaryUser);
  }
  return setup;
}

}  // namespace paddock::agent::testing
