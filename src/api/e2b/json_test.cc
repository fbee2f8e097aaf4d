#include "api/e2b/json.h"

#include <gtest/gtest.h>

namespace paddock::api::e2b {
namespace {

TEST(Timestamps, AreReadAsTheyAreWritten) {
  for (int64_t ms : {int64_t{0}, int64_t{1'700'000'000'123}, int64_t{1'796'031'304'007}}) {
    EXPECT_EQ(parse_timestamp(timestamp(ms)).value(), ms);
  }
}

TEST(Timestamps, MayHaveAnyZoneAndFraction) {
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:01Z").value(), 1000);
  EXPECT_EQ(parse_timestamp("1970-01-01T01:00:00+01:00").value(), 0);
  EXPECT_EQ(parse_timestamp("1969-12-31T23:30:00.5-00:30").value(), 500);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.123456789Z").value(), 123);
}

TEST(Timestamps, AreRefusedWithoutZoneOrWithMoreBehind) {
  for (const char* text : {"", "now", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00:00Zx",
                           "1970-01-01T00:00:00+1", "1970-13-01T00:00:00Z"}) {
    EXPECT_EQ(parse_timestamp(text).error().code(), Code::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace paddock::api::e2b
