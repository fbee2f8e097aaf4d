#include "egress/credentials/placeholder.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/strings.h"
#include "egress/credentials/hmac.h"

namespace paddock::egress {
namespace {

const std::string kSecret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

char shape_of(char c) {
  if (c >= 'a' && c <= 'z') return 'a';
  if (c >= 'A' && c <= 'Z') return 'A';
  return c >= '0' && c <= '9' ? '0' : c;
}

TEST(Placeholder, ItHasTheShapeOfItsSecret) {
  const std::string text = make_placeholder(kSecret, "key", "github");
  ASSERT_EQ(text.size(), kSecret.size());
  EXPECT_TRUE(text.starts_with("ghp_"));
  size_t same = 0;
  for (size_t i = 4; i < text.size(); ++i) {
    EXPECT_EQ(shape_of(text[i]), shape_of(kSecret[i]));
    same += text[i] == kSecret[i] ? 1 : 0;
  }
  EXPECT_LT(same, 12u);
}

TEST(Placeholder, EverySandboxAndEveryCredentialHasItsOwn) {
  EXPECT_EQ(make_placeholder(kSecret, "key", "github"), make_placeholder(kSecret, "key", "github"));
  EXPECT_NE(make_placeholder(kSecret, "key", "github"),
            make_placeholder(kSecret, "fork", "github"));
  EXPECT_NE(make_placeholder(kSecret, "key", "github"), make_placeholder(kSecret, "key", "other"));
}

TEST(Placeholder, ItSaysNothingOfTheSecretButItsShape) {
  const std::string other = "ghp_00A0a00A000a0000A0000a000000Aa000A0a";
  EXPECT_EQ(make_placeholder(kSecret, "key", "github"), make_placeholder(other, "key", "github"));
}

TEST(Placeholder, HexadecimalStaysHexadecimal) {
  const std::string text = make_placeholder("0123456789abcdef0123456789abcdef", "key", "x");
  EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(text.size(), 32u);
}

TEST(Placeholder, AShortPasswordGetsALongText) {
  for (const char* secret : {"", "hunter2", "12345678", "----------------------------"}) {
    const std::string text = make_placeholder(secret, "key", "x");
    EXPECT_TRUE(text.starts_with("paddock-"));
    EXPECT_EQ(text.size(), 32u);
  }
}

TEST(Placeholder, AWebTokenKeepsItsHeaderAndNoneOfItsClaims) {
  const std::string secret =
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
  const std::vector<std::string> parts = split(make_placeholder(secret, "key", "x"), '.');
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0], "eyJhbGciOiJIUzI1NiJ9");
  EXPECT_EQ(parts[2].size(), 43u);
  std::string claims = parts[1];
  while (claims.size() % 4 != 0) claims += '=';
  EXPECT_NE(base64_decode(claims).value().find(R"("exp":4102444800})"), std::string::npos);
}

TEST(Hmac, KnownAnswersHold) {  // RFC 4231, cases 1 and 2
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace paddock::egress
