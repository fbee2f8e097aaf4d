#include "api/e2b/connect.h"

#include <gtest/gtest.h>

namespace paddock::api::e2b {
namespace {

TEST(Envelope, IsAFlagALengthAndTheMessage) {
  EXPECT_EQ(message_envelope("{}"), std::string("\0\0\0\0\2{}", 7));
  EXPECT_EQ(end_envelope(), std::string("\2\0\0\0\2{}", 7));
  EXPECT_EQ(end_envelope({ConnectCode::not_found, "no"}).substr(5),
            R"({"error":{"code":"not_found","message":"no"}})");
}

TEST(EnvelopeReader, TakesMessagesThatComeInPieces) {
  EnvelopeReader reader(100);
  const std::string all = message_envelope("one") + end_envelope();
  reader.add(all.substr(0, 6));
  EXPECT_FALSE(reader.next().value().has_value());
  reader.add(all.substr(6));
  EXPECT_EQ(reader.next().value()->message, "one");
  EXPECT_EQ(reader.next().value()->flags, kEndOfStream);
  EXPECT_TRUE(reader.is_empty());
}

TEST(EnvelopeReader, RefusesWhatIsTooLongCompressedOrUnknown) {
  auto code_of = [](std::string_view bytes) {
    EnvelopeReader reader(100);
    reader.add(bytes);
    return reader.next().error().code();
  };
  EXPECT_EQ(code_of(std::string_view("\0\xff\xff\xff\xff", 5)), Code::resource_exhausted);
  EXPECT_EQ(code_of(std::string_view("\1\0\0\0\0", 5)), Code::unsupported);
  EXPECT_EQ(code_of(std::string_view("\x80\0\0\0\0", 5)), Code::data_corrupt);
}

}  // namespace
}  // namespace paddock::api::e2b
