#include "egress/names/synthetic.h"

#include <gtest/gtest.h>

#include <set>

#include "egress/names/address_class.h"

namespace paddock::egress {
namespace {

HostName name(const std::string& text) {
  return HostName::parse(text).value();
}

TEST(Synthetic, ANameKeepsItsAddressAndTheAddressItsName) {
  SyntheticAddresses table;
  const SyntheticPair first = table.address_of(name("a.example")).value();
  const SyntheticPair second = table.address_of(name("b.example")).value();
  EXPECT_NE(first.v4, second.v4);
  EXPECT_EQ(table.address_of(name("A.example.")).value().v4, first.v4);
  EXPECT_EQ(table.name_of(first.v4), name("a.example"));
  EXPECT_EQ(table.name_of(first.v6), name("a.example"));
  EXPECT_EQ(table.name_of(second.v6), name("b.example"));
}

TEST(Synthetic, AddressesThatWereNotGivenOutHaveNoName) {
  SyntheticAddresses table;
  table.address_of(name("a.example")).value();
  for (const char* text :
       {"198.18.0.0", "198.18.0.1", "198.18.0.15", "198.18.0.17", "198.19.255.255", "192.0.2.1",
        "2001:2::1", "2001:2::c612:11", "::ffff:198.18.0.16"}) {
    EXPECT_EQ(table.name_of(model::IpAddress::parse(text).value()), std::nullopt) << text;
  }
}

TEST(Synthetic, TheTableIsBoundedAndStaysInItsBlocks) {
  SyntheticAddresses table;
  std::set<model::IpAddress> seen;
  for (uint32_t i = 0; i < SyntheticAddresses::kMaxNames; ++i) {
    const SyntheticPair pair = table.address_of(name("n" + std::to_string(i) + ".example")).value();
    ASSERT_TRUE(seen.insert(pair.v4).second);
    ASSERT_TRUE(SyntheticAddresses::is_synthetic(pair.v4));
    ASSERT_TRUE(SyntheticAddresses::is_synthetic(pair.v6));
    ASSERT_EQ(classify(pair.v4), AddressClass::benchmarking);
    ASSERT_EQ(classify(pair.v6), AddressClass::benchmarking);
  }
  EXPECT_EQ(table.address_of(name("one-more.example")).error().code(), Code::resource_exhausted);
  EXPECT_TRUE(table.address_of(name("n0.example")).ok());
}

}  // namespace
}  // namespace paddock::egress
