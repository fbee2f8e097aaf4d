#include "sys/pid.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace paddock::sys {
namespace {

TEST(Pid, APidfdAndAStartTimeNameOneProcess) {
  // SAFETY: pidfd_open has no wrapper in Debian 12's libc.
  PidFd self(static_cast<int>(syscall(SYS_pidfd_open, ::getpid(), 0)));
  EXPECT_EQ(pid_of(self), ::getpid());
  EXPECT_GT(start_time_of(::getpid()), start_time_of(1));
  EXPECT_EQ(start_time_of(0), 0);
}

}  // namespace
}  // namespace paddock::sys
