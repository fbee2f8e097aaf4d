#include "agent/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <optional>
#include <vector>

#include "agent/process_tree.h"
#include "sys/clock.h"

namespace paddock::agent {
namespace {

// With more processes than this dying, the next round waits for several of them.
constexpr size_t kManyProcesses = 4;
constexpr long kRoundNs = 1'000'000;

uint64_t microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
}

class Supervisor {
 public:
  Supervisor(LaunchPlan& plan, sys::SocketFd agent) : plan_(plan), agent_(std::move(agent)) {}

  [[noreturn]] void run() {
    start();
    while (true) {
      const bool children_left = reap();
      if (main_status_ && !main_reported_) report_main(children_left);
      if (!children_left) report_end();
      const size_t killed = killing_ ? signal_tree(SIGKILL) : 0;
      wait(killed);
      take_orders();
    }
  }

 private:
  void start() {
    struct sigaction wake {};
    wake.sa_handler = [](int) {};  // SIGCHLD must interrupt ppoll
    ::sigaction(SIGCHLD, &wake, nullptr);
    ::sigfillset(&all_);  // the command has our uid: what can be blocked must not end us
    ::sigprocmask(SIG_SETMASK, &all_, nullptr);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    ::prctl(PR_SET_NAME, "paddock-command", 0, 0, 0);
    std::optional<sys::LandlockRuleset> ruleset;
    if (plan_.wants_landlock()) {
      auto made = plan_.make_ruleset();
      if (!made.ok())
        fail({.pid = 0, .failed = LaunchStep::landlock, .error = made.error().errno_value()});
      ruleset = std::move(*made);
    }
    started_us_ = sys::monotonic_us();
    const auto launched = plan_.launch(ruleset ? ruleset->fd().get() : -1);
    if (launched.failed != LaunchStep::none) fail(launched);
    for (sys::Fd& stream : plan_.streams) stream.reset();
    plan_.from_directory.reset();
    main_ = launched.pid;
    send({.kind = Report::Kind::started, .pid = main_});
  }

  [[noreturn]] void fail(const LaunchPlan::Launched& launched) {
    if (launched.pid > 0) ::waitpid(launched.pid, nullptr, 0);
    send({.kind = Report::Kind::failed,
          .pid = launched.pid,
          .step = launched.failed,
          .error = launched.error});
    ::_exit(0);
  }

  void send(const Report& report) {
    (void)::send(agent_.get(), &report, sizeof report, MSG_NOSIGNAL);
  }

  // Takes every child that has ended; false: there is none left.
  bool reap() {
    while (true) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid == 0) return true;
      if (pid < 0) {
        if (errno == EINTR) continue;
        return false;
      }
      if (pid == main_) {
        main_status_ = status;
      } else if (killing_ && main_status_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        ++killed_;
      }
    }
  }

  // Of all that have ended and been waited for.
  static void fill_usage(Report& report) {
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    report.user_us = microseconds(usage.ru_utime);
    report.system_us = microseconds(usage.ru_stime);
    report.max_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  }

  void report_main(bool children_left) {
    main_reported_ = true;
    Report report{.kind = Report::Kind::main_ended,
                  .wait_status = *main_status_,
                  .children_left = children_left ? 1u : 0u,
                  .wall_us = static_cast<uint64_t>(sys::monotonic_us() - started_us_)};
    fill_usage(report);
    send(report);
  }

  [[noreturn]] void report_end() {
    Report report{.kind = Report::Kind::tree_ended, .killed = killed_};
    fill_usage(report);
    send(report);
    ::_exit(0);
  }

  // How many there were.
  static size_t signal_tree(int signal) {
    const auto processes = list_processes();
    const auto below = descendants_of(::getpid(), processes);
    for (pid_t pid : below) ::kill(pid, signal);
    return below.size();
  }

  // Until a child ends or the agent says something. In a kill, at most until the next round: a
  // child of one that we killed becomes ours, and nothing tells us.
  void wait(size_t killed) {
    sigset_t mask = all_;
    if (killed <= kManyProcesses) ::sigdelset(&mask, SIGCHLD);
    const timespec round{.tv_sec = 0, .tv_nsec = kRoundNs};
    pollfd agent{.fd = agent_.get(), .events = POLLIN, .revents = 0};
    ::ppoll(&agent, 1, killing_ ? &round : nullptr, &mask);
  }

  void take_orders() {
    while (true) {
      Order order{};
      const ssize_t n = ::recv(agent_.get(), &order, sizeof order, MSG_DONTWAIT);
      if (n < 0) return;
      if (n != sizeof order) {  // the agent is gone
        killing_ = true;
        return;
      }
      carry_out(order);
    }
  }

  void carry_out(const Order& order) {
    switch (order.kind) {
      case Order::Kind::signal_group:
        // Once the first process is reaped its number may belong to another group.
        if (!main_status_) ::kill(-main_, order.signal);
        return;
      case Order::Kind::signal_tree:
        signal_tree(order.signal);
        return;
      case Order::Kind::kill_tree:
        killing_ = true;
        return;
      case Order::Kind::leave:
        agent_.reset();
        return;
    }
  }

  LaunchPlan& plan_;
  sys::SocketFd agent_;
  sigset_t all_{};
  pid_t main_ = 0;
  int64_t started_us_ = 0;
  std::optional<int> main_status_;
  bool main_reported_ = false;
  bool killing_ = false;
  uint32_t killed_ = 0;
};

}  // namespace

void close_all_but(std::vector<int> kept) {
  std::ranges::sort(kept);
  unsigned int from = 3;
  for (int fd : kept) {
    if (fd < 0) continue;
    const auto number = static_cast<unsigned int>(fd);
    if (number < from) continue;
    if (number > from) ::close_range(from, number - 1, 0);
    from = number + 1;
  }
  ::close_range(from, ~0U, 0);
}

void supervise(LaunchPlan& plan, sys::SocketFd agent) {
  close_all_but({agent.get(), plan.streams[0].get(), plan.streams[1].get(), plan.streams[2].get(),
                 plan.from_directory.get()});
  Supervisor(plan, std::move(agent)).run();
}

}  // namespace paddock::agent
