// Every row is executed against the compiled filter in a child, and once more without it.
#include "isolation/seccomp/table.h"

#include <gtest/gtest.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <thread>

#include "isolation/seccomp/filter.h"
#include "sys/seccomp.h"
#include "sys/testing/raw_syscall.h"

namespace paddock::isolation::seccomp {
namespace {

using sys::testing::raw_syscall;
using Arguments = std::array<long, 6>;

struct Call {
  long number = 0;
  Arguments arguments{};
};

// Arguments that meet the row's conditions. The others lead nowhere, so that the call fails in the
// kernel should it get there; clone's stack and flags stay harmless.
Call call_of(const Row& row) {
  Call call{row.number, {}};
  call.arguments.fill(row.number == SYS_clone ? 0 : -1);
  for (const Condition& condition : row.conditions) {
    auto value = static_cast<long>(condition.value);
    call.arguments.at(condition.argument) =
        condition.is == Condition::Is::equal_under_mask ? value : value + 1;
  }
  return call;
}

// A bit that the kernel does not look at, set in every argument that is compared as 32 bits.
std::optional<Call> with_a_high_bit(const Row& row) {
  Call call = call_of(row);
  bool any = false;
  for (const Condition& condition : row.conditions) {
    if (condition.is != Condition::Is::equal_under_mask) continue;
    call.arguments.at(condition.argument) |= 1L << 40;
    any = true;
  }
  return any ? std::optional(call) : std::nullopt;
}

struct Answers {
  std::vector<long> results;  // per call: result or -errno
  std::set<int> reported;     // numbers that the listener heard
};

enum class Guard { off, on };

// Does the calls in a child, which ends with the test's view of them in a pipe.
class Trial {
 public:
  static Answers run(const std::vector<Call>& calls, Guard guard) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      Trial(calls, ends[1]).child(guard);
      ::_exit(0);
    }
    ::close(ends[1]);
    Answers answers;
    long record[2];
    while (::read(ends[0], record, sizeof record) == sizeof record) {
      if (record[0] < 0) {
        answers.reported.insert(static_cast<int>(record[1]));
      } else {
        answers.results.push_back(record[1]);
      }
    }
    ::close(ends[0]);
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    return answers;
  }

 private:
  Trial(const std::vector<Call>& calls, int out) : calls_(calls), out_(out) {}

  void child(Guard guard) {
    if (guard == Guard::on) {
      auto listener = sys::install_seccomp_filter(filter(), sys::Listener::wanted);
      if (!listener.ok()) ::_exit(2);
      wire::Setup setup;
      fill(setup);
      std::thread([this, fd = std::move(*listener), setup] { answer(fd, setup); }).detach();
    }
    for (size_t i = 0; i < calls_.size(); ++i) {
      long result = raw_syscall(calls_[i].number, calls_[i].arguments);
      if (result == 0 && calls_[i].number == SYS_clone) ::_exit(0);  // the child that it made
      put(static_cast<long>(i), result);
    }
  }

  // As the agent does it.
  void answer(const sys::Fd& listener, const wire::Setup& setup) {
    while (true) {
      auto call = sys::receive_notification(listener);
      if (!call.ok()) return;
      if (!*call) continue;
      put(-1, (*call)->number);
      int error = 0;
      for (const auto& reported : setup.reported_syscalls()) {
        if (static_cast<int>(reported.number()) == (*call)->number) error = reported.error();
      }
      sys::refuse_notification(listener, (*call)->id, error);
    }
  }

  void put(long key, long value) {
    long record[2] = {key, value};
    if (::write(out_, record, sizeof record) != sizeof record) ::_exit(3);
  }

  const std::vector<Call>& calls_;
  int out_;
};

std::vector<Call> all_calls() {
  std::vector<Call> calls;
  for (const Row& row : table()) calls.push_back(call_of(row));
  return calls;
}

TEST(SeccompTable, EveryRowIsRefusedAsItSays) {
  Answers answers = Trial::run(all_calls(), Guard::on);
  ASSERT_EQ(answers.results.size(), table().size());
  for (size_t i = 0; i < table().size(); ++i) {
    const Row& row = table()[i];
    EXPECT_EQ(answers.results[i], -row.error) << "row " << i << ": " << row.name;
    bool reports = row.action == Action::refuse_and_report;
    if (reports) {
      EXPECT_TRUE(answers.reported.count(row.number) != 0) << row.name;
    }
  }
}

TEST(SeccompTable, WithoutTheFilterTheKernelAnswersEveryRowOtherwise) {
  Answers answers = Trial::run(all_calls(), Guard::off);
  ASSERT_EQ(answers.results.size(), table().size());
  for (size_t i = 0; i < table().size(); ++i) {
    const Row& row = table()[i];
    // The kernel lacks some of these calls, and refuses others to whoever is not root.
    if (row.error == ENOSYS || (row.error == EPERM && ::geteuid() != 0)) continue;
    EXPECT_NE(answers.results[i], -row.error) << "row " << i << ": " << row.name;
  }
}

TEST(SeccompTable, AHighBitLeadsAroundNoRow) {
  std::vector<Call> calls;
  std::vector<const Row*> rows;
  for (const Row& row : table()) {
    if (auto call = with_a_high_bit(row)) {
      calls.push_back(*call);
      rows.push_back(&row);
    }
  }
  Answers answers = Trial::run(calls, Guard::on);
  ASSERT_EQ(answers.results.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    // Another row about the same call may answer first.
    EXPECT_TRUE(answers.results[i] == -rows[i]->error || answers.results[i] == -EPERM)
        << rows[i]->name << ": " << answers.results[i];
  }
}

TEST(SeccompTable, CallsNewerThanTheTableDoNotExist) {
  Answers answers =
      Trial::run({{kNewestConsidered + 1, {}}, {1000, {}}, {0x40000000 + SYS_read, {}}}, Guard::on);
  EXPECT_EQ(answers.results, (std::vector<long>{-ENOSYS, -ENOSYS, -ENOSYS}));
}

TEST(SeccompTable, WhatProgramsNeedIsAllowed) {
  struct rlimit64 limit {
    100, 100
  };
  auto at = [](const void* p) { return reinterpret_cast<long>(p); };
  std::vector<Call> calls{
      {SYS_socket, {AF_UNIX, SOCK_STREAM, 0}},
      {SYS_socket, {AF_INET, SOCK_STREAM, 0}},
      {SYS_socket, {AF_INET6, SOCK_DGRAM, 0}},
      {SYS_socket, {AF_NETLINK, SOCK_RAW, 0}},
      {SYS_unshare, {CLONE_FS}},
      {SYS_personality, {0xffffffff}},
      {SYS_personality, {ADDR_NO_RANDOMIZE}},
      {SYS_ptrace, {PTRACE_TRACEME}},
      {SYS_prlimit64, {0, RLIMIT_NOFILE, at(&limit)}},
      {SYS_memfd_create, {at("x"), 0}},
  };
  Answers answers = Trial::run(calls, Guard::on);
  ASSERT_EQ(answers.results.size(), calls.size());
  for (size_t i = 0; i < calls.size(); ++i) EXPECT_GE(answers.results[i], 0) << "call " << i;
  EXPECT_TRUE(answers.reported.empty());
}

TEST(SeccompTable, CoreDumpsStayOffAndProgramsThatSwitchThemOffAreContent) {
  struct rlimit64 zero {
    0, 0
  };
  struct rlimit64 seen {
    7, 7
  };
  auto at = [](const void* p) { return reinterpret_cast<long>(p); };
  pid_t pid = ::fork();
  if (pid == 0) {
    struct rlimit64 one {
      1, 1
    };
    raw_syscall(SYS_prlimit64, {0, RLIMIT_CORE, at(&one)});
    if (!sys::install_seccomp_filter(filter(), sys::Listener::none).ok()) ::_exit(2);
    if (raw_syscall(SYS_prlimit64, {0, RLIMIT_CORE, at(&zero)}) != 0) ::_exit(3);
    if (raw_syscall(SYS_prlimit64, {0, RLIMIT_CORE, 0, at(&seen)}) != 0) ::_exit(4);
    ::_exit(seen.rlim_cur == 1 ? 0 : 5);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

#ifdef __x86_64__
// socketcall(2) of the 32-bit ABI makes sockets that no row sees.
int socket_by_the_other_abi() {
  long result = 0;
  // SAFETY: int 0x80 with getpid's number there; clobbers nothing but rax.
  asm volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
  return result > 0 ? 0 : 1;
}

TEST(SeccompTable, TheOtherAbiIsKilled) {
  auto ending = [](Guard guard) {
    pid_t pid = ::fork();
    if (pid == 0) {
      if (guard == Guard::on) (void)sys::install_seccomp_filter(filter(), sys::Listener::none).ok();
      ::_exit(socket_by_the_other_abi());
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status;
  };
  int without = ending(Guard::off);
  if (!WIFEXITED(without)) GTEST_SKIP() << "needs 32-bit-abi: the kernel has no 32-bit ABI";
  EXPECT_EQ(without, 0);
  int status = ending(Guard::on);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) << status;
}
#endif

TEST(SeccompTable, EveryReportedCallHasOneErrorAndEveryRowAReason) {
  std::set<std::pair<int, int>> errors;
  std::set<int> reported;
  for (const Row& row : table()) {
    EXPECT_GT(std::string(row.reason).size(), 5u) << row.name;
    EXPECT_LE(row.number, static_cast<int>(kNewestConsidered));
    if (row.action != Action::refuse_and_report) continue;
    reported.insert(row.number);
    errors.insert({row.number, row.error});
  }
  EXPECT_EQ(errors.size(), reported.size()) << "the agent answers by number";
}

}  // namespace
}  // namespace paddock::isolation::seccomp
