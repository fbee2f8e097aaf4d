#include "egress/names/address_class.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace paddock::egress {
namespace {

using model::Cidr;
using model::IpAddress;

AddressClass of(std::string_view text) {
  return classify(IpAddress::parse(text).value());
}

TEST(AddressClass, PublicAddressesAreGlobal) {
  for (const char* text :
       {"8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "168.63.129.15", "11.0.0.0",
        "2606:4700:4700::1111", "2a00:1450::1", "2001:4860:4860::8888", "2003::1"}) {
    EXPECT_EQ(of(text), AddressClass::global) << text;
  }
}

TEST(AddressClass, EverySpecialBlockIsKnownAtBothEnds) {
  using enum AddressClass;
  const std::vector<std::pair<const char*, AddressClass>> table{{"0.0.0.0", unspecified},
                                                                {"0.0.0.1", reserved},
                                                                {"10.0.0.0", private_use},
                                                                {"10.255.255.255", private_use},
                                                                {"100.64.0.0", shared},
                                                                {"100.127.255.255", shared},
                                                                {"127.0.0.1", loopback},
                                                                {"127.255.255.255", loopback},
                                                                {"169.254.0.1", link_local},
                                                                {"169.254.169.254", metadata},
                                                                {"169.254.170.2", metadata},
                                                                {"100.100.100.200", metadata},
                                                                {"168.63.129.16", metadata},
                                                                {"192.0.0.192", metadata},
                                                                {"172.16.0.0", private_use},
                                                                {"172.31.255.255", private_use},
                                                                {"192.0.0.1", reserved},
                                                                {"192.0.2.9", documentation},
                                                                {"192.88.99.1", tunnelled},
                                                                {"192.168.1.1", private_use},
                                                                {"198.18.0.1", benchmarking},
                                                                {"198.19.255.255", benchmarking},
                                                                {"198.51.100.1", documentation},
                                                                {"203.0.113.1", documentation},
                                                                {"224.0.0.1", multicast},
                                                                {"239.255.255.255", multicast},
                                                                {"240.0.0.1", reserved},
                                                                {"255.255.255.254", reserved},
                                                                {"255.255.255.255", broadcast},
                                                                {"::", unspecified},
                                                                {"::1", loopback},
                                                                {"::2", mapped},
                                                                {"::7f00:1", mapped},
                                                                {"::ffff:127.0.0.1", mapped},
                                                                {"::ffff:8.8.8.8", mapped},
                                                                {"::ffff:0:127.0.0.1", mapped},
                                                                {"64:ff9b:1::1", translated},
                                                                {"fc00::1", private_use},
                                                                {"fdff::1", private_use},
                                                                {"fd00:ec2::254", metadata},
                                                                {"fe80::1", link_local},
                                                                {"febf::1", link_local},
                                                                {"fec0::1", private_use},
                                                                {"ff02::1", multicast},
                                                                {"2001::1", tunnelled},
                                                                {"2001:2::1", benchmarking},
                                                                {"2001:10::1", reserved},
                                                                {"2001:20::1", reserved},
                                                                {"2001:db8::1", documentation},
                                                                {"2002:7f00:1::", tunnelled},
                                                                {"2002:808:808::1", tunnelled},
                                                                {"3fff::1", documentation},
                                                                {"5f00::1", reserved},
                                                                {"4000::1", reserved},
                                                                {"100::1", reserved},
                                                                {"1::1", reserved}};
  for (const auto& [text, kind] : table) EXPECT_EQ(of(text), kind) << text;
}

TEST(AddressClass, WellKnownNat64IsJudgedByWhatItHolds) {
  EXPECT_EQ(of("64:ff9b::8.8.8.8"), AddressClass::global);
  for (const char* text : {"64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254",
                           "64:ff9b::0.0.0.0", "64:ff9b::198.18.0.1"}) {
    EXPECT_EQ(of(text), AddressClass::translated) << text;
  }
}

TEST(AddressClass, IsatapIsATunnelUnderAnyPrefix) {
  for (const char* text : {"2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:10.0.0.1",
                           "2606:4700:0:0:100:5efe:8.8.8.8"}) {
    EXPECT_EQ(of(text), AddressClass::tunnelled) << text;
  }
}

TEST(AddressClass, ABlockIsGlobalOnlyAsAWhole) {
  EXPECT_TRUE(is_all_global(Cidr::parse("8.8.8.0/24").value()));
  EXPECT_TRUE(is_all_global(Cidr::parse("2606:4700::/32").value()));
  for (const char* text : {"0.0.0.0/0", "8.0.0.0/5", "168.63.129.0/24", "10.0.0.1", "::/0",
                           "2000::/3", "192.168.0.0/17", "fe80::/64", "4000::/16"}) {
    EXPECT_FALSE(is_all_global(Cidr::parse(text).value())) << text;
  }
}

}  // namespace
}  // namespace paddock::egress
