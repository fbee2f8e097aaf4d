#include "sys/timer_fd.h"

#include <gtest/gtest.h>

#include <array>

#include "sys/epoll.h"
#include "sys/pipe.h"

namespace paddock::sys {
namespace {

class TimerAndEpoll : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(epoll_.add(timer_.fd(), EPOLLIN, 42).ok()); }

  size_t ready(int timeout_ms) { return epoll_.wait(events_, timeout_ms).value().size(); }

  Epoll epoll_ = Epoll::open().value();
  TimerFd timer_ = TimerFd::open().value();
  std::array<epoll_event, 4> events_{};
};

TEST_F(TimerAndEpoll, FiresAtATimeThatHasPassed) {
  EXPECT_EQ(ready(0), 0u);
  timer_.set(boot_time_ns() - 1);
  ASSERT_EQ(ready(10'000), 1u);
  EXPECT_EQ(events_[0].data.u64, 42u);
  timer_.clear_event();
  EXPECT_EQ(ready(0), 0u);
}

TEST_F(TimerAndEpoll, DoesNotFireWhenItWasTakenBack) {
  timer_.set(boot_time_ns() + 20'000'000);
  timer_.set(std::nullopt);
  EXPECT_EQ(ready(60), 0u);
}

TEST_F(TimerAndEpoll, RemovedDescriptorIsQuietThoughACopyLives) {
  Pipe pipe = make_pipe().value();
  ASSERT_TRUE(epoll_.add(pipe.write, EPOLLOUT, 1).ok());
  ASSERT_EQ(ready(0), 1u);
  epoll_.remove(pipe.write);
  EXPECT_EQ(ready(0), 0u);
}

}  // namespace
}  // namespace paddock::sys
