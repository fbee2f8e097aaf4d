#include "sys/call_allowlist.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "sys/seccomp.h"

namespace paddock::sys {
namespace {

constexpr std::array kCalls{
    AllowedCall{SYS_openat, 2, O_WRONLY | O_RDWR | O_CREAT},
    AllowedCall{SYS_close},
    AllowedCall{SYS_exit_group},
};

enum class Confined { no, yes };

// The exit status of a child that does it; 128 + n where a signal ended it.
int in_child(Confined confined, const std::function<int()>& act) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const auto filter = allow_only(kCalls);
    if (confined == Confined::yes && !install_seccomp_filter(filter, Listener::none).ok())
      ::_exit(99);
    // As itself: a sanitizer's own _exit() looks for leaks first, by calls that are refused by
    // then.
    ::syscall(SYS_exit_group, act());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int error_of(long result) {
  return result < 0 ? errno : 0;
}

// Each does what a confined process must not, and can be done without the filter.
int opens_to_write() {
  return error_of(::open("/dev/null", O_RDWR));
}
int opens_a_socket() {
  return error_of(::socket(AF_INET, SOCK_STREAM, 0));
}
int starts_a_program() {
  char* const argv[] = {const_cast<char*>("/bin/true"), nullptr};
  return error_of(::execve("/bin/true", argv, nullptr));
}
int makes_a_process() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  return error_of(pid);
}

TEST(CallAllowlist, WhatIsListedGoesOn) {
  EXPECT_EQ(in_child(Confined::yes, [] { return error_of(::open("/dev/null", O_RDONLY)); }), 0);
}

TEST(CallAllowlist, AllElseIsRefused) {
  for (int (*act)() : {opens_to_write, opens_a_socket, starts_a_program, makes_a_process}) {
    EXPECT_EQ(in_child(Confined::yes, act), EPERM);
    EXPECT_EQ(in_child(Confined::no, act), 0) << "the twin";
  }
}

#if defined(__x86_64__)
TEST(CallAllowlist, NumbersOfAnotherAbiAreNoWayAround) {
  constexpr long kX32 = 0x40000000;
  EXPECT_EQ(in_child(Confined::yes, [] { return error_of(::syscall(kX32 | SYS_getpid)); }),
            128 + SIGSYS);
}
#endif

}  // namespace
}  // namespace paddock::sys
