#include "egress/names/host_name.h"

#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"

namespace paddock::egress {
namespace {

std::string canonical(std::string_view text) {
  auto name = HostName::parse(text);
  return name.ok() ? name->str() : "refused: " + name.error().message();
}

TEST(HostName, OneFormForEverySpelling) {
  EXPECT_EQ(canonical("Example.COM"), "example.com");
  EXPECT_EQ(canonical("example.com."), "example.com");
  EXPECT_EQ(canonical("db"), "db");
  EXPECT_EQ(canonical("XN--BCHER-KVA.example"), "xn--bcher-kva.example");
  EXPECT_EQ(canonical("r3---sn-4g5e6nez.example.com"), "r3---sn-4g5e6nez.example.com");
  EXPECT_EQ(canonical("my_bucket.example.com"), "my_bucket.example.com");
  EXPECT_EQ(canonical("3com.com"), "3com.com");
  EXPECT_EQ(canonical("1.2.3.4.example"), "1.2.3.4.example");
}

TEST(HostName, WhatIsNoNameIsRefused) {
  using std::string_literals::operator""s;
  for (const std::string& text : {""s,
                                  "."s,
                                  ".."s,
                                  "a..b"s,
                                  ".a"s,
                                  "a.."s,
                                  "a b"s,
                                  " a"s,
                                  "a\t"s,
                                  "a\n.com"s,
                                  "a\0.com"s,
                                  "evil.com\0.example.com"s,
                                  "a%2ecom"s,
                                  "user@a.com"s,
                                  "a.com:443"s,
                                  "*.a.com"s,
                                  "a/b"s,
                                  "a\\b"s,
                                  "b\xc3\xbc"s
                                  "cher.example"s,
                                  "-a.com"s,
                                  "a-.com"s,
                                  "_dmarc.a.com"s,
                                  "xn--"s,
                                  "a.com?x"s,
                                  "a.com#"s,
                                  "[::1]"s,
                                  "::1"s,
                                  "fe80::1%eth0"s,
                                  "a,b"s,
                                  "\x7f"s}) {
    EXPECT_FALSE(HostName::parse(text).ok()) << printable(text);
  }
}

TEST(HostName, NumbersAreNoNames) {
  for (const char* text :
       {"127.0.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "1.2.3.04",
        "1.2.3.4.5", "example.1", "example.0x", "0", "a.0xdeadbeef", "127.0.0.1."}) {
    EXPECT_FALSE(HostName::parse(text).ok()) << text;
  }
}

TEST(HostName, LengthsAreHeldToTheByte) {
  const std::string label(63, 'a');
  EXPECT_TRUE(HostName::parse(label + ".com").ok());
  EXPECT_FALSE(HostName::parse(label + "a.com").ok());
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'b');
  ASSERT_EQ(longest.size(), 253u);
  EXPECT_TRUE(HostName::parse(longest).ok());
  EXPECT_TRUE(HostName::parse(longest + ".").ok());
  EXPECT_FALSE(HostName::parse(longest + "b").ok());
}

TEST(HostName, AHostileTextIsPrintedEscapedAndCut) {
  const auto error = HostName::parse("\x1b[2J" + std::string(5000, 'x')).error();
  EXPECT_EQ(error.message().find('\x1b'), std::string::npos);
  EXPECT_LT(error.message().size(), 250u);
}

TEST(HostName, BelowCountsWholeLabels) {
  const auto parent = HostName::parse("a.com").value();
  EXPECT_TRUE(HostName::parse("x.a.com").value().is_below(parent));
  EXPECT_TRUE(HostName::parse("a.com").value().is_below(parent));
  EXPECT_FALSE(HostName::parse("evila.com").value().is_below(parent));
  EXPECT_FALSE(HostName::parse("a.com.evil.com").value().is_below(parent));
  EXPECT_FALSE(HostName::parse("com").value().is_below(parent));
}

TEST(Host, AddressesAreToldFromNames) {
  EXPECT_TRUE(std::holds_alternative<model::IpAddress>(parse_host("192.0.2.1").value()));
  EXPECT_TRUE(std::holds_alternative<model::IpAddress>(parse_host("2001:db8::1").value()));
  EXPECT_EQ(to_string(parse_host("[2001:DB8::1]").value()), "2001:db8::1");
  EXPECT_TRUE(std::holds_alternative<HostName>(parse_host("a.example").value()));
  for (const char* text : {"[192.0.2.1]", "[a.example]", "[]", "[::1", "::1]", "192.0.2.01"}) {
    EXPECT_FALSE(parse_host(text).ok()) << text;
  }
}

TEST(Authority, PortIsReadOnlyWhereItStands) {
  EXPECT_EQ(parse_authority("a.example:8080").value().port, 8080);
  EXPECT_EQ(parse_authority("a.example").value().port, std::nullopt);
  EXPECT_EQ(parse_authority("a.example:").value().port, std::nullopt);
  EXPECT_EQ(parse_authority("[2001:db8::1]:443").value().port, 443);
  EXPECT_EQ(parse_authority("[2001:db8::1]").value().port, std::nullopt);
  for (const char* text : {"a.example:0", "a.example:65536", "a.example:+1", "a.example:80:80",
                           "user@a.example", "user:pw@a.example:80", "2001:db8::1", "::1:443",
                           "a.example:99999999999999999999", ":80", "a.example:8 0", ""}) {
    EXPECT_FALSE(parse_authority(text).ok()) << text;
  }
}

}  // namespace
}  // namespace paddock::egress
