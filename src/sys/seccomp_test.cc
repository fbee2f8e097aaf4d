#include "sys/seccomp.h"

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <thread>
#include <vector>

#include "sys/testing/in_child.h"

namespace paddock::sys {
namespace {

using testing::in_child;

// Allows everything but `number`, which gets `action`.
std::vector<sock_filter> filter_of(uint32_t number, uint32_t action) {
  return {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, action),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
}

TEST(Seccomp, FilterRefusesInThisProcess) {
  EXPECT_NE(::syscall(SYS_getpgrp), -1) << "without a filter the call works";
  EXPECT_EQ(in_child([] {
              auto none = install_seccomp_filter(filter_of(SYS_getpgrp, SECCOMP_RET_ERRNO | EPERM),
                                                 Listener::none);
              if (!none.ok() || none->is_open()) return 255;
              return ::syscall(SYS_getpgrp) == -1 ? errno : 0;
            }),
            EPERM);
}

TEST(Seccomp, ListenerHearsTheCallAndAnswersIt) {
  EXPECT_EQ(in_child([] {
              auto listener = install_seccomp_filter(filter_of(SYS_getpgrp, SECCOMP_RET_USER_NOTIF),
                                                     Listener::wanted);
              if (!listener.ok()) return 255;
              int heard = 0;
              std::thread thread([&] {
                auto call = receive_notification(*listener);
                if (!call.ok() || !*call || !is_still_waiting(*listener, (*call)->id)) return;
                heard = (*call)->number;
                refuse_notification(*listener, (*call)->id, EXDEV);
              });
              const int error = ::syscall(SYS_getpgrp) == -1 ? errno : 0;
              thread.join();
              return heard == SYS_getpgrp ? error : 254;
            }),
            EXDEV);
}

}  // namespace
}  // namespace paddock::sys
