#include "engine/live/usage_history.h"

#include <gtest/gtest.h>

namespace paddock::engine {
namespace {

TEST(UsageHistory, GivesTheSamplesOfARangeOfSeconds) {
  UsageHistory history;
  for (int64_t ms : {900, 1000, 1999, 2500, 3000}) history.add({ms, 0, 0});
  const auto found = history.between(1, 2);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found.front().wall_ms, 1000);
  EXPECT_EQ(found.back().wall_ms, 2500);
  EXPECT_TRUE(history.between(4, 9).empty());
}

TEST(UsageHistory, ForgetsTheOldest) {
  UsageHistory history;
  for (size_t i = 0; i <= UsageHistory::kMaxSamples; ++i) {
    history.add({static_cast<int64_t>(i) * 1000, 0, 0});
  }
  EXPECT_TRUE(history.between(0, 0).empty());
  EXPECT_EQ(history.between(0, INT64_MAX).size(), UsageHistory::kMaxSamples);
}

}  // namespace
}  // namespace paddock::engine
