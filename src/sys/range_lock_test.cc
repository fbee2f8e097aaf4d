#include "sys/range_lock.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "sys/testing/temp_dir.h"

namespace paddock::sys {
namespace {

TEST(RangeLock, GivesEveryNumberOnceUntilOneIsFreed) {
  testing::TempDir dir;
  std::string path = dir.path() + "/numbers";
  std::vector<LockedNumber> held;
  std::set<uint32_t> seen;
  for (int i = 0; i < 8; ++i) {
    auto locked = lock_free_number(path, 8);
    ASSERT_TRUE(locked.ok()) << locked.error().describe();
    EXPECT_TRUE(seen.insert(locked->number).second);
    held.push_back(std::move(*locked));
  }
  auto none = lock_free_number(path, 8);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), Code::resource_exhausted);
  uint32_t freed = held[3].number;
  held.erase(held.begin() + 3);
  auto again = lock_free_number(path, 8);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->number, freed);
}

}  // namespace
}  // namespace paddock::sys
