#include "base/base64.h"

#include <gtest/gtest.h>

namespace paddock {
namespace {

TEST(Base64, TheVectorsOfTheRfcHoldBothWays) {
  constexpr std::pair<std::string_view, std::string_view> kVectors[] = {{"", ""},
                                                                        {"f", "Zg=="},
                                                                        {"fo", "Zm8="},
                                                                        {"foo", "Zm9v"},
                                                                        {"foob", "Zm9vYg=="},
                                                                        {"fooba", "Zm9vYmE="},
                                                                        {"foobar", "Zm9vYmFy"}};
  for (auto [bytes, text] : kVectors) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text).value(), bytes);
  }
}

TEST(Base64, EveryByteSurvives) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (size_t length = 0; length <= bytes.size(); ++length) {
    std::string part = bytes.substr(bytes.size() - length);
    EXPECT_EQ(base64_decode(base64_encode(part)).value(), part);
  }
}

TEST(Base64, AnythingThatIsNotTheOneTextIsRefused) {
  for (std::string_view text : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==",
                                "Zm 9", "Zm9v\n", "Zm-_", "Z=9v"}) {
    EXPECT_FALSE(base64_decode(text).ok()) << text;
  }
}

}  // namespace
}  // namespace paddock
