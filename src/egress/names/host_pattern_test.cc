#include "egress/names/host_pattern.h"

#include <gtest/gtest.h>

namespace paddock::egress {
namespace {

HostPattern pattern(std::string_view text) {
  return HostPattern::parse(text, SharedSuffix::refused).value();
}
bool matches(std::string_view text, std::string_view name) {
  return pattern(text).matches(HostName::parse(name).value());
}

TEST(HostPattern, AnExactNameMatchesItselfInEverySpelling) {
  EXPECT_TRUE(matches("a.com", "A.COM."));
  EXPECT_TRUE(matches("A.com.", "a.com"));
  EXPECT_FALSE(matches("a.com", "x.a.com"));
  EXPECT_FALSE(matches("a.com", "evila.com"));
  EXPECT_FALSE(matches("a.com", "a.com.evil.com"));
}

TEST(HostPattern, AWildcardCoversWholeLabelsBelowAndNotTheNameItself) {
  EXPECT_TRUE(matches("*.a.com", "x.a.com"));
  EXPECT_TRUE(matches("*.a.com", "x.y.a.com"));
  EXPECT_FALSE(matches("*.a.com", "a.com"));
  EXPECT_FALSE(matches("*.a.com", "evila.com"));
  EXPECT_FALSE(matches("*.a.com", "a.com.evil.com"));
  EXPECT_EQ(pattern("*.A.com.").str(), "*.a.com");
}

TEST(HostPattern, PatternsThatNameEverythingAreRefused) {
  for (const char* text :
       {"*", "**", "*.*", "*.", ".", "**.a.com", "a.*", "*a.com", "a*.com", "*.*.com", "x.*.a.com",
        "*.com", "*.co.uk", "*.xn--p1ai", "*.kawasaki.jp", "*.unheard-of", "*.local", ""}) {
    EXPECT_FALSE(HostPattern::parse(text, SharedSuffix::accepted).ok()) << text;
  }
  EXPECT_NE(HostPattern::parse("*", SharedSuffix::refused).error().remedy().find("open"),
            std::string::npos);
}

TEST(HostPattern, ASuffixThatStrangersShareMustBeMeant) {
  for (const char* text : {"*.github.io", "*.s3.amazonaws.com", "*.githubusercontent.com"}) {
    auto refused = HostPattern::parse(text, SharedSuffix::refused);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_NE(refused.error().remedy().find("shared_suffix"), std::string::npos);
    EXPECT_TRUE(HostPattern::parse(text, SharedSuffix::accepted).ok()) << text;
  }
  EXPECT_TRUE(HostPattern::parse("raw.githubusercontent.com", SharedSuffix::refused).ok());
  EXPECT_TRUE(HostPattern::parse("*.mybucket.s3.amazonaws.com", SharedSuffix::refused).ok());
}

TEST(HostPattern, ARuleThatRefusesMayNameAnySuffix) {
  EXPECT_TRUE(HostPattern::parse("*.com", SharedSuffix::anything).ok());
  EXPECT_FALSE(HostPattern::parse("*", SharedSuffix::anything).ok());
}

TEST(HostPattern, AddressesAndPortsBelongElsewhere) {
  for (const char* text : {"192.0.2.1", "2001:db8::1", "[2001:db8::1]", "10.0.0.0/8", "a.com:443",
                           "https://a.example", "a.com/x", "0x7f.1", "*.0x7f.1"}) {
    EXPECT_FALSE(HostPattern::parse(text, SharedSuffix::refused).ok()) << text;
  }
}

}  // namespace
}  // namespace paddock::egress
