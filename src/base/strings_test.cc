#include "base/strings.h"

#include <gtest/gtest.h>

namespace paddock {
namespace {

TEST(Strings, BytesAreReadAndWrittenInBinaryMultiples) {
  EXPECT_EQ(parse_bytes("4G").value(), 4ull << 30);
  EXPECT_EQ(parse_bytes("64k").value(), 65536u);
  EXPECT_EQ(parse_bytes("17").value(), 17u);
  EXPECT_EQ(format_bytes(4ull << 30), "4G");
  EXPECT_EQ(format_bytes(1500), "1500");
}

TEST(Strings, SizesThatAreNoneAreRefused) {
  for (const char* text : {"", "G", "-1", "1.5G", "99999999999T", "4GB", " 4"}) {
    EXPECT_FALSE(parse_bytes(text).ok()) << text;
  }
}

TEST(Strings, DurationsAreSeconds) {
  EXPECT_EQ(parse_seconds("2h").value(), 7200u);
  EXPECT_EQ(parse_seconds("90").value(), 90u);
  EXPECT_FALSE(parse_seconds("1w").ok());
}

TEST(Strings, NearestFindsASlipAndNotANonsense) {
  std::vector<std::string> keys{"memory", "cpus", "pids"};
  EXPECT_EQ(nearest("memroy", keys), "memory");
  EXPECT_EQ(nearest("entirely-different", keys), std::nullopt);
}

TEST(Strings, PrintableLeavesTextAndEscapesTheRest) {
  EXPECT_EQ(printable("café ☕"), "café ☕");
  EXPECT_EQ(printable("a\x1b[31m\n\xff\\"), "a\\x1b[31m\\x0a\\xff\\\\");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // C1 control sequence introducer
}

TEST(Strings, Utf8RejectsOverlongSurrogateAndTruncated) {
  EXPECT_TRUE(is_valid_utf8("é𝄞"));
  for (std::string_view bad : {"\xc0\xaf", "\xed\xa0\x80", "\xe2\x82", "\xf5\x80\x80\x80"}) {
    EXPECT_FALSE(is_valid_utf8(bad));
  }
}

struct GlobCase {
  const char* pattern;
  const char* text;
  bool matches;
};

TEST(Strings, GlobsStopAtSlashesUnlessDoubled) {
  for (const GlobCase& c : {
           GlobCase{".env*", ".env", true},
           {".env*", ".env.local", true},
           {".env*", "x/.env", false},
           {"**/.env", ".env", true},
           {"**/.env", "a/b/.env", true},
           {"**/.env", "a/b.env", false},
           {"*.pem", "key.pem", true},
           {"*.pem", "a/key.pem", false},
           {"secrets/**", "secrets/a/b", true},
           {"secrets/**", "secret/a", false},
           {"id_[rd]sa", "id_rsa", true},
           {"id_[!r]sa", "id_rsa", false},
           {"a?c", "a/c", false},
           {"[", "[", true},
           {"\\*", "*", true},
           {"\\*", "x", false},
           {"", "", true},
           {"*", "", true},
           {"a**b", "a/x/b", true},
           {"*a*b*c", "xxaxxbxxc", true},
           {"*a*b*c", "xxaxxbxx", false},
       }) {
    EXPECT_EQ(glob_match(c.pattern, c.text), c.matches) << c.pattern << " on " << c.text;
  }
}

TEST(Strings, AHostileGlobEndsQuickly) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", std::string(4000, 'a')));
}

}  // namespace
}  // namespace paddock
