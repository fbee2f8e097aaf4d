// Replays the seeds of every fuzz target of this library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/fuzz.h"

namespace {

TEST(Fuzz, EveryTargetHoldsItsPropertiesOnItsSeedsAndNearThem) {
  EXPECT_THAT(paddock::testing::replay_fuzz_seeds(PADDOCK_SOURCE_DIR "/src/api/fuzz_seeds"),
              testing::IsEmpty());
}

}  // namespace
