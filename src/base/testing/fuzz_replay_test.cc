// Part of the unit tests of every library that has fuzz targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/fuzz.h"

namespace {

TEST(Fuzz, EveryTargetHoldsItsPropertiesOnItsSeedsAndNearThem) {
  ASSERT_FALSE(paddock::testing::fuzz_targets().empty());
  EXPECT_THAT(paddock::testing::replay_fuzz_seeds(PADDOCK_FUZZ_SEEDS), testing::IsEmpty());
}

}  // namespace
