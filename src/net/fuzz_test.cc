#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/fuzz.h"

namespace paddock::net {
namespace {

TEST(Fuzz, EveryTargetSurvivesItsSeedsAndTheirMutations) {
  EXPECT_THAT(paddock::testing::replay_fuzz_seeds(PADDOCK_SOURCE_DIR "/src/net/fuzz_seeds"),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace paddock::net
