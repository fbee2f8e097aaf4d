#include "wire/frame.h"

#include <gtest/gtest.h>

#include "wire/testing/frames.h"

namespace paddock::wire {
namespace {

using testing::frame;
using testing::u32;

constexpr uint32_t kMax = 1000;

std::string header(uint32_t length, uint32_t second_word) {
  return u32(length) + u32(second_word);
}

void expect_violation(std::string_view bytes) {
  auto parsed = parse_frame(bytes, kMax);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().code(), Code::data_corrupt);
}

TEST(Frame, ComesBackAsItWasBuilt) {
  const std::string bytes = frame(FrameType::data, 7, "hello") + "rest";
  auto parsed = parse_frame(bytes, kMax).value();
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->type, FrameType::data);
  EXPECT_EQ(parsed->stream, 7u);
  EXPECT_EQ(parsed->payload, "hello");
  EXPECT_EQ(parsed->size, bytes.size() - 4);
}

TEST(Frame, ThatIsCutAnywhereIsNotThereYet) {
  const std::string bytes = frame(FrameType::data, 7, "hello");
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(parse_frame(std::string_view(bytes).substr(0, n), kMax).value().has_value());
  }
}

TEST(Frame, OfAnUnknownTypeIsAViolation) {
  expect_violation(header(0, 0));
  expect_violation(header(0, 7));
  expect_violation(header(0, 255));
}

TEST(Frame, WithReservedBitsSetIsAViolation) {
  expect_violation(header(5, 0x102));
  expect_violation(header(5, 0x10002));
}

TEST(Frame, LengthIsJudgedByTheHeaderAlone) {
  expect_violation(header(0, 1));                   // empty control
  expect_violation(header(kMax + 1, 1));            // control beyond the caller's limit
  expect_violation(header(0, 2));                   // empty data
  expect_violation(header(kInitialCredit + 1, 2));  // more data than any stream's credit
  expect_violation(header(1, 3));                   // end with a payload
  expect_violation(header(3, 4));                   // credit of three bytes
  expect_violation(header(0xffffffff, 5));          // reset with a payload
}

TEST(Frame, OnStreamZeroIsAViolation) {
  expect_violation(header(5, 2) + u32(0));
}

}  // namespace
}  // namespace paddock::wire
