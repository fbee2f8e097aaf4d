#include "sys/command.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/pipe.h"

namespace paddock::sys {
namespace {

std::vector<char*> c_strings(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

Result<pid_t> spawn(const Command& command, const Pipe& in, const Pipe& out, const Pipe& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (command.input_file.empty()) {
    posix_spawn_file_actions_adddup2(&actions, in.read.get(), 0);
  } else {
    posix_spawn_file_actions_addopen(&actions, 0, command.input_file.c_str(), O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, out.write.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, err.write.get(), 2);
  if (!command.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (command.limits) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv = c_strings(command.argv);
  std::vector<char*> envp = c_strings(command.environment);
  pid_t pid = -1;
  int error = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return Error::from_errno(error, "starting " + command.argv[0]);
  return pid;
}

Status limit(pid_t pid, const CommandLimits& limits) {
  const std::array<std::pair<__rlimit_resource, uint64_t>, 4> all{
      {{RLIMIT_CPU, limits.cpu_seconds},
       {RLIMIT_AS, limits.memory_bytes},
       {RLIMIT_FSIZE, limits.file_bytes},
       {RLIMIT_CORE, 0}}};
  for (const auto& [what, most] : all) {
    const rlimit both{most, most};
    if (::prlimit(pid, what, &both, nullptr) != 0) {
      return Error::from_errno(errno, "limiting a program");
    }
  }
  return {};
}

// Until then poll(2) may wait; -1: for ever.
int left_ms(const Command& command, int64_t began_us) {
  if (!command.limits) return -1;
  const int64_t left = command.limits->wall_ms - (sys::monotonic_us() - began_us) / 1000;
  return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
}

// Moves bytes until both outputs end. Closes `in` when the input is written or not wanted.
Status pump(const Command& command, Fd in, const Fd& out, const Fd& err, CommandResult& result) {
  const int64_t began_us = sys::monotonic_us();
  ::fcntl(in.get(), F_SETFL, O_NONBLOCK);
  size_t written = 0;
  std::array<std::string*, 2> sinks{&result.out, &result.err};
  std::array<pollfd, 3> fds{pollfd{out.get(), POLLIN, 0}, pollfd{err.get(), POLLIN, 0},
                            pollfd{in.get(), POLLOUT, 0}};
  if (command.input.empty()) {
    in.reset();
    fds[2].fd = -1;
  }
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    const int ready = ::poll(fds.data(), fds.size(), left_ms(command, began_us));
    if (ready == 0) {
      return Error(Code::timed_out, fmt::format("{} took more than {} ms", command.argv[0],
                                                command.limits->wall_ms));
    }
    if (ready < 0) {
      if (errno == EINTR) continue;
      return Error::from_errno(errno, "waiting for " + command.argv[0]);
    }
    for (size_t i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      std::array<char, 65536> buffer;
      ssize_t n = ::read(fds[i].fd, buffer.data(), buffer.size());
      if (n > 0) sinks[i]->append(buffer.data(), static_cast<size_t>(n));
      if (n == 0 || (n < 0 && errno != EINTR)) fds[i].fd = -1;
      if (sinks[i]->size() > command.output_limit) {
        return Error(Code::resource_exhausted, fmt::format("{} wrote more than {} bytes",
                                                           command.argv[0], command.output_limit));
      }
    }
    if (fds[2].fd >= 0 && fds[2].revents != 0) {
      ssize_t n = ::write(in.get(), command.input.data() + written, command.input.size() - written);
      if (n > 0) written += static_cast<size_t>(n);
      bool gone = n < 0 && errno != EAGAIN && errno != EINTR;  // EPIPE: it does not want the rest
      if (gone || written == command.input.size()) {
        in.reset();
        fds[2].fd = -1;
      }
    }
  }
  return {};
}

// A program that stops reading must not end us by SIGPIPE; the caller's disposition stays.
class IgnoreSigpipe {
 public:
  IgnoreSigpipe() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set_, &old_);
  }
  ~IgnoreSigpipe() {
    struct timespec none {};
    if (sigismember(&old_, SIGPIPE) == 0) sigtimedwait(&set_, nullptr, &none);
    pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }

 private:
  sigset_t set_;
  sigset_t old_;
};

}  // namespace

Result<CommandResult> run_command(const Command& command) {
  Pipe in = PD_TRY(make_pipe());
  Pipe out = PD_TRY(make_pipe());
  Pipe err = PD_TRY(make_pipe());
  pid_t pid = PD_TRY(spawn(command, in, out, err));
  in.read.reset();
  out.write.reset();
  err.write.reset();
  IgnoreSigpipe ignore_sigpipe;
  CommandResult result;
  Status pumped = command.limits ? limit(pid, *command.limits) : Status();
  if (pumped.ok()) pumped = pump(command, std::move(in.write), out.read, err.read, result);
  if (!pumped.ok()) ::kill(command.limits ? -pid : pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  PD_TRY(std::move(pumped));
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace paddock::sys
