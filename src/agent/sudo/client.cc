#include "agent/sudo/client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "agent/sudo/environment.h"
#include "agent/sudo/options.h"
#include "agent/sudo/socket.h"
#include "agent/supervisor_messages.h"
#include "agent/users.h"
#include "base/strings.h"
#include "sys/descriptor_messages.h"
#include "sys/signal_fd.h"
#include "wire/sudo.pb.h"

extern char** environ;

namespace paddock::agent::sudo {
namespace {

constexpr int kFailed = 1;
constexpr const char* kUsage =
    "usage: sudo [-EHnS] [-u user] [-g group] [-D directory] [VAR=value] [-i | -s] [command …]\n"
    "       sudo -v | -l\n"
    "Runs a command as another user of this sandbox. There is no password.\n";

int fail(const std::string& why) {
  std::fprintf(stderr, "sudo: %s\n", why.c_str());
  return kFailed;
}

int fail(const Error& error) {
  return fail(error.remedy().empty() ? error.describe() : error.describe() + "; " + error.remedy());
}

// Ids without a name are users, too.
User find_caller() {
  auto user = find_user(::getuid());
  if (user.ok()) return std::move(*user);
  const std::string name = "#" + std::to_string(::getuid());
  return {.name = name, .uid = ::getuid(), .gid = ::getgid(), .home = "/", .shell = "/bin/sh"};
}

Caller caller_here() {
  Caller caller{find_caller(), {}};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    caller.environment.emplace_back(*variable);
  }
  return caller;
}

Result<User> find_target(const Options& options) {
  User target = PD_TRY(find_user(options.user));
  if (!options.group.empty()) target.gid = PD_TRY(find_group(options.group));
  return target;
}

wire::SudoRequest request_of(const Options& options, const Caller& caller, const User& target) {
  wire::SudoRequest request;
  for (std::string& word : words_of(options, caller, target)) request.add_argv(std::move(word));
  for (std::string& variable : environment_of(options, caller, target)) {
    request.add_environment(std::move(variable));
  }
  request.set_uid(target.uid);
  request.set_gid(target.gid);
  for (gid_t group : target.groups) request.add_groups(group);
  request.set_directory(options.directory);
  if (options.directory.empty() && options.shell == Options::Shell::login) {
    request.set_directory(target.home);
  }
  return request;
}

Result<sys::SocketFd> send_request(const wire::SudoRequest& request) {
  auto socket = sys::connect_for_records(kSocketPath);
  if (!socket.ok()) {
    return std::move(socket).error().set_remedy(
        "this sandbox serves no other user; live sandboxes of a daemon that root started do");
  }
  // "." would have to be entered, which the caller need not be able to do any more.
  const sys::Fd directory(::open("/proc/self/cwd", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) return Error::from_errno(errno, "opening the current directory");
  const std::string body = request.SerializeAsString();
  const auto length = static_cast<uint32_t>(body.size());
  if (body.size() > kMaxRequest) {
    return Error(Code::invalid_argument, "arguments and environment are too long");
  }
  std::string head(sizeof length, '\0');
  std::memcpy(head.data(), &length, sizeof length);
  const std::array fds{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, directory.get()};
  PD_TRY(sys::send_with_descriptors(*socket, head, fds));
  for (size_t at = 0; at < body.size(); at += kMaxSudoRecord) {
    PD_TRY(
        sys::send_with_descriptors(*socket, std::string_view(body).substr(at, kMaxSudoRecord), {}));
  }
  return std::move(*socket);
}

void order(const sys::Fd& socket, Order::Kind kind, int signal) {
  const Order order{.kind = kind, .signal = signal};
  (void)::send(socket.get(), &order, sizeof order, MSG_NOSIGNAL);
}

// A shell that waits for us must see a stopped job where there is one.
void pass_on(const sys::Fd& socket, int signal) {
  order(socket, Order::Kind::signal_group, signal);
  if (signal == SIGTSTP) ::kill(::getpid(), SIGSTOP);
}

int end_like(int wait_status) {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  const int signal = WTERMSIG(wait_status);
  ::signal(signal, SIG_DFL);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::kill(::getpid(), signal);
  return 128 + signal;  // it is ignored, or was no deadly one
}

int explain(const Report& report, const wire::SudoRequest& request) {
  const std::string name = printable(request.argv(0));
  if (report.step == LaunchStep::none) return fail(name + ": the agent refuses to run it");
  if (report.step == LaunchStep::directory) {
    return fail("unable to change directory to " + printable(request.directory()) + ": " +
                std::strerror(report.error));
  }
  if (report.error == ENOENT) return fail(name + ": command not found");
  return fail("unable to execute " + name + ": " + std::strerror(report.error));
}

// nullopt: it goes on.
std::optional<int> take_report(const sys::Fd& socket, const wire::SudoRequest& request) {
  Report report{};
  const ssize_t size = ::recv(socket.get(), &report, sizeof report, 0);
  if (size < 0 && errno == EINTR) return std::nullopt;
  if (size != sizeof report) return fail("the agent has ended the command");
  if (report.kind == Report::Kind::failed) return explain(report, request);
  if (report.kind != Report::Kind::main_ended) return std::nullopt;
  order(socket, Order::Kind::leave, 0);  // what it left behind goes on
  return end_like(report.wait_status);
}

int wait_for_end(const sys::Fd& socket, const wire::SudoRequest& request) {
  auto signals = sys::SignalFd::open(
      {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGWINCH});
  if (!signals.ok()) return fail(signals.error());
  std::array<pollfd, 2> waited{{{socket.get(), POLLIN, 0}, {signals->fd(), POLLIN, 0}}};
  while (true) {
    if (::poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) {
      return fail(Error::from_errno(errno, "waiting for the command"));
    }
    while (auto signal = signals->take()) pass_on(socket, *signal);
    if (waited[0].revents == 0) continue;
    if (auto status = take_report(socket, request)) return *status;
  }
}

int run_command(const Options& options) {
  auto target = find_target(options);
  if (!target.ok()) return fail(target.error());
  if (options.command.empty() && options.shell == Options::Shell::none) {
    std::fputs(kUsage, stderr);
    return kFailed;
  }
  const wire::SudoRequest request = request_of(options, caller_here(), *target);
  if (options.wait == Options::Wait::in_background) {
    const pid_t pid = ::fork();
    if (pid < 0) return fail(Error::from_errno(errno, "going to the background"));
    if (pid > 0) return 0;
  }
  auto socket = send_request(request);
  if (!socket.ok()) return fail(socket.error());
  return wait_for_end(*socket, request);
}

}  // namespace

int run_client(const std::vector<std::string>& words) {
  auto options = parse(words);
  if (!options.ok()) {
    std::fputs(kUsage, stderr);
    return fail(options.error());
  }
  switch (options->action) {
    case Options::Action::run:
      return run_command(*options);
    case Options::Action::validate:
      return sys::connect_for_records(kSocketPath).ok() ? 0 : fail("it is not served here");
    case Options::Action::list:
      std::printf("User %s may run the following commands here:\n    (ALL : ALL) NOPASSWD: ALL\n",
                  find_caller().name.c_str());
      return 0;
    case Options::Action::version:
      std::printf("sudo as Paddock serves it\n");
      return 0;
    case Options::Action::help:
      break;
  }
  std::fputs(kUsage, stdout);
  return 0;
}

}  // namespace paddock::agent::sudo
