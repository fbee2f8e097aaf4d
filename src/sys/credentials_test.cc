#include "sys/credentials.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

namespace paddock::sys {
namespace {

// libc's own functions wait for threads that the child's copy of the list says are being started:
// one child in twenty never ends.
TEST(Credentials, AChildTakesItsIdsWhateverThreadsItsParentStarts) {
  std::atomic<bool> stop{false};
  std::thread starter([&] {
    while (!stop) std::thread([] {}).join();
  });
  size_t stuck = 0;
  for (int i = 0; i < 200; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(raw_take_ids(::getuid(), ::getgid()) == 0 || errno == EPERM ? 0 : 1);
    int status = -1;
    for (int waited = 0; ::waitpid(child, &status, WNOHANG) == 0; ++waited) {
      if (waited < 5000) {
        ::usleep(1000);
        continue;
      }
      ++stuck;
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    EXPECT_EQ(status, 0);
    if (stuck > 0) break;
  }
  stop = true;
  starter.join();
  EXPECT_EQ(stuck, 0u);
}

}  // namespace
}  // namespace paddock::sys
