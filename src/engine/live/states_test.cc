#include "engine/live/states.h"

#include <gtest/gtest.h>

namespace paddock::engine {
namespace {

using enum SandboxState;
constexpr SandboxState kAll[] = {creating, running, pausing, paused, resuming, stopping, gone};

TEST(SandboxState, EveryStateLeadsToTheEndAndNothingComesBackFromIt) {
  for (SandboxState state : kAll) {
    EXPECT_FALSE(may_follow(gone, state));
    EXPECT_FALSE(may_follow(state, creating));
    EXPECT_FALSE(may_follow(state, state));
    EXPECT_EQ(may_follow(state, gone), state == stopping);
    EXPECT_EQ(may_follow(state, stopping), state != stopping && state != gone);
  }
}

TEST(SandboxState, ASnapshotIsNoPauseAndAResumeThatFailsIsOneStill) {
  EXPECT_TRUE(may_follow(pausing, resuming));
  EXPECT_TRUE(may_follow(resuming, paused));
}

TEST(SandboxState, APauseThatFailsGoesOnRunning) {
  EXPECT_TRUE(may_follow(running, pausing));
  EXPECT_TRUE(may_follow(pausing, running));
  EXPECT_FALSE(may_follow(running, paused));
  EXPECT_FALSE(may_follow(paused, running));
}

}  // namespace
}  // namespace paddock::engine
