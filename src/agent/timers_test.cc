#include "agent/timers.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace paddock::agent {
namespace {

class TimersTest : public ::testing::Test {
 protected:
  bool fires(int within_ms) {
    pollfd poll{.fd = timers_.fd().get(), .events = POLLIN, .revents = 0};
    return ::poll(&poll, 1, within_ms) == 1;
  }

  Timers timers_ = Timers::open().value();
  static constexpr Timers::Key kDeadline{TimerKind::sandbox_deadline};
  static constexpr Timers::Key kTimeout{TimerKind::command_timeout, 7};
};

TEST_F(TimersTest, EarliestComesFirstHoweverTheyWereSet) {
  timers_.set_in_ms(kDeadline, 1'000'000);
  timers_.set_in_ms(kTimeout, 20);
  ASSERT_TRUE(fires(10'000));
  EXPECT_EQ(timers_.take_due(), std::vector<Timers::Key>{kTimeout});
  EXPECT_TRUE(timers_.is_set(kDeadline));
  EXPECT_FALSE(fires(50));
}

TEST_F(TimersTest, ReplacedOneIsDueAtItsNewTimeOnly) {
  timers_.set_in_ms(kDeadline, 10);
  timers_.set_in_ms(kDeadline, 1'000'000);
  if (fires(100)) {
    EXPECT_TRUE(timers_.take_due().empty());
  }
  EXPECT_TRUE(timers_.is_set(kDeadline));
  timers_.set_in_ms(kDeadline, 10);
  ASSERT_TRUE(fires(10'000));
  EXPECT_EQ(timers_.take_due(), std::vector<Timers::Key>{kDeadline});
}

TEST_F(TimersTest, LaterOneStillFiresAfterTheEarlierWasTakenBack) {
  timers_.set_in_ms(kTimeout, 10);
  timers_.set_in_ms(kDeadline, 60);
  timers_.cancel_all_of(7);
  while (timers_.is_set(kDeadline)) {
    ASSERT_TRUE(fires(10'000));
    (void)timers_.take_due();
  }
}

TEST_F(TimersTest, HugeTimeIsNoOverflow) {
  timers_.set_in_ms(kDeadline, ~uint64_t{0});
  EXPECT_FALSE(fires(20));
  EXPECT_TRUE(timers_.is_set(kDeadline));
}

}  // namespace
}  // namespace paddock::agent
