#include "model/ip_address.h"

#include <gtest/gtest.h>

namespace paddock::model {
namespace {

TEST(IpAddress, CanonicalTextIsReadAndPrinted) {
  for (const char* text : {"192.0.2.1", "0.0.0.0", "255.255.255.255", "::", "::1", "2001:db8::1",
                           "fd00:ec2::254", "64:ff9b::808:808"}) {
    EXPECT_EQ(IpAddress::parse(text).value().str(), text);
  }
  EXPECT_EQ(IpAddress::parse("2001:DB8:0:0:0:0:0:1").value().str(), "2001:db8::1");
}

TEST(IpAddress, OtherSpellingsOfAnAddressAreRefused) {
  for (std::string_view text :
       {"0177.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "127.0.0.01", "127.0.0.1.", " 127.0.0.1",
        "1.2.3.256", "fe80::1%eth0", "[::1]", "", "127.0.0.1/8", "::1::"}) {
    EXPECT_FALSE(IpAddress::parse(text).ok()) << text;
  }
  EXPECT_FALSE(IpAddress::parse(std::string_view("127.0.0.1\0.example", 18)).ok());
}

TEST(IpAddress, MappedFormIsAnotherValue) {
  const auto v4 = IpAddress::parse("127.0.0.1").value();
  const auto mapped = IpAddress::parse("::ffff:127.0.0.1").value();
  EXPECT_NE(v4, mapped);
  EXPECT_FALSE(mapped.is_v4());
  EXPECT_EQ(IpAddress::from_bytes(mapped.raw()).value(), mapped);
  EXPECT_FALSE(IpAddress::from_bytes("12345").ok());
}

TEST(IpAddress, PortIsSetApart) {
  EXPECT_EQ(IpAddress::parse("192.0.2.1").value().with_port(443), "192.0.2.1:443");
  EXPECT_EQ(IpAddress::parse("2001:db8::1").value().with_port(443), "[2001:db8::1]:443");
}

TEST(Cidr, ContainsUpToTheLastBit) {
  const Cidr block = Cidr::parse("198.18.0.0/15").value();
  EXPECT_TRUE(block.contains(IpAddress::parse("198.19.255.255").value()));
  EXPECT_FALSE(block.contains(IpAddress::parse("198.20.0.0").value()));
  EXPECT_FALSE(block.contains(IpAddress::parse("198.17.255.255").value()));
  EXPECT_FALSE(block.contains(IpAddress::parse("::ffff:198.18.0.1").value()));
  EXPECT_TRUE(Cidr::parse("0.0.0.0/0").value().contains(IpAddress::parse("9.9.9.9").value()));
}

TEST(Cidr, AnAddressAloneIsABlockOfOne) {
  const Cidr one = Cidr::parse("192.0.2.1").value();
  EXPECT_TRUE(one.is_single());
  EXPECT_EQ(one.str(), "192.0.2.1");
  EXPECT_EQ(Cidr::parse("2001:db8::/32").value().str(), "2001:db8::/32");
}

TEST(Cidr, BitsBeyondThePrefixAreRefused) {
  for (const char* text : {"10.1.2.3/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8",
                           "2001:db8::1/64", "::/129", "example.com/8"}) {
    EXPECT_FALSE(Cidr::parse(text).ok()) << text;
  }
}

TEST(Cidr, OverlapIsSymmetric) {
  const Cidr wide = Cidr::parse("10.0.0.0/8").value();
  const Cidr narrow = Cidr::parse("10.1.0.0/16").value();
  EXPECT_TRUE(wide.overlaps(narrow) && narrow.overlaps(wide));
  EXPECT_FALSE(narrow.overlaps(Cidr::parse("10.2.0.0/16").value()));
}

}  // namespace
}  // namespace paddock::model
