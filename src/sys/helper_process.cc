#include "sys/helper_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace paddock::sys {
namespace {

constexpr int kFirst = 3;
constexpr int kOutOfTheWay = 64;  // above every number that a descriptor is to become

class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  void set(const std::vector<Fd>& fds) {
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    for (int fd = 0; fd < kFirst; ++fd) {
      posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_RDWR, 0);
    }
    for (size_t i = 0; i < fds.size(); ++i) {
      posix_spawn_file_actions_adddup2(&actions_, fds[i].get(), kFirst + static_cast<int>(i));
    }
  }
  Result<pid_t> spawn(const std::string& program, std::vector<char*> argv) {
    char* const no_environment[] = {nullptr};
    pid_t pid = -1;
    const int error =
        ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, argv.data(), no_environment);
    if (error != 0) return Error::from_errno(error, "starting " + program);
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

Result<Process> start_helper(HelperProcess helper) {
  std::vector<Fd> moved;
  for (const Fd& fd : helper.fds) {
    moved.emplace_back(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kOutOfTheWay));
    if (!moved.back().is_open()) return Error::from_errno(errno, "starting " + helper.program);
  }
  std::vector<char*> argv{helper.program.data()};
  for (std::string& word : helper.words) argv.push_back(word.data());
  argv.push_back(nullptr);
  SpawnSettings settings;
  settings.set(moved);
  const pid_t pid = PD_TRY(settings.spawn(helper.program, std::move(argv)));
  // SAFETY: our own child, not reaped yet: the pid is its.
  PidFd pidfd(Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  if (!pidfd.is_open()) {
    const int error = errno;
    ::kill(pid, SIGKILL);
    return Error::from_errno(error, "starting " + helper.program);
  }
  return Process(pid, std::move(pidfd));
}

}  // namespace paddock::sys
