#include "service/usage.h"

#include <gtest/gtest.h>

#include "service/keys.h"
#include "sys/testing/temp_dir.h"

namespace paddock::service {
namespace {

TEST(UsageOfKeys, AddsUpByKeyAndDay) {
  sys::testing::TempDir dir;
  auto database = store::Database::open(dir.path() + "/paddock.db").value();
  const auto key = Keys(database).create("ci", KeyScope::sandboxes).value().key;
  UsageBook book(database);
  ASSERT_TRUE(
      book.add({{key.id.str(), {1, 2, 3, 4, 5}}, {"", {1, 1, 1, 1, 1}}}, "2026-11-29").ok());
  ASSERT_TRUE(book.add({{key.id.str(), {1, 2, 3, 4, 5}}}, "2026-11-29").ok());
  ASSERT_TRUE(book.add({{key.id.str(), {7, 0, 0, 0, 0}}}, "2026-11-30").ok());
  const auto all = book.list("").value();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].label, "ci");
  EXPECT_EQ(all[1].usage, (KeyUsage{2, 4, 6, 8, 10}));
  const auto today = book.list("2026-11-30").value();
  ASSERT_EQ(today.size(), 1u);
  EXPECT_EQ(today[0].usage.sandboxes, 7u);
}

TEST(UsageOfKeys, DaysAreOfUtc) {
  EXPECT_EQ(day_of(0), "1970-01-01");
  EXPECT_EQ(day_of(86'399'999), "1970-01-01");
  EXPECT_EQ(day_of(86'400'000), "1970-01-02");
}

}  // namespace
}  // namespace paddock::service
