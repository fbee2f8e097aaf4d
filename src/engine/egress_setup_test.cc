#include "engine/egress_setup.h"

#include <gtest/gtest.h>

#include "egress/names/synthetic.h"
#include "wire/egress.h"

namespace paddock::engine {
namespace {

model::Cidr block_of(const wire::AddressBlock& block) {
  return model::Cidr::of(model::IpAddress::from_bytes(block.address()).value(),
                         static_cast<uint8_t>(block.prefix()));
}

bool redirects(const wire::Egress& setup, const model::IpAddress& address) {
  for (const wire::AddressBlock& block : setup.redirected()) {
    if (block_of(block).contains(address)) return true;
  }
  return false;
}

TEST(EgressSetup, RedirectsWhatStandsForNamesAndWhatRulesName) {
  const wire::Egress setup =
      egress_setup(wire::Egress::REDIRECT, {model::Cidr::parse("203.0.113.0/24").value()});
  EXPECT_EQ(setup.form(), wire::Egress::REDIRECT);
  egress::SyntheticAddresses names;
  const auto pair = names.address_of(egress::HostName::parse("a.example").value()).value();
  EXPECT_TRUE(redirects(setup, pair.v4));
  EXPECT_TRUE(redirects(setup, pair.v6));
  EXPECT_TRUE(redirects(setup, model::IpAddress::parse("203.0.113.9").value()));
  EXPECT_FALSE(redirects(setup, model::IpAddress::parse("203.0.114.9").value()));
  EXPECT_FALSE(redirects(setup, model::IpAddress::parse("2001:db8::1").value()));
}

TEST(EgressSetup, MoreBlocksThanTheTableHoldsAreEveryAddress) {
  const std::vector<model::Cidr> many(wire::kMaxRedirected,
                                      model::Cidr::parse("203.0.113.0/24").value());
  const wire::Egress setup = egress_setup(wire::Egress::REDIRECT, many);
  EXPECT_LE(setup.redirected_size(), static_cast<int>(wire::kMaxRedirected));
  EXPECT_TRUE(redirects(setup, model::IpAddress::parse("203.0.114.9").value()));
  EXPECT_TRUE(redirects(setup, model::IpAddress::parse("2001:db8::1").value()));
}

TEST(EgressSetup, ProxyFormRedirectsNothingAndSetsTheVariables) {
  EXPECT_TRUE(proxy_variables(wire::Egress::REDIRECT).empty());
  EXPECT_EQ(egress_setup(wire::Egress::PROXY, {}).redirected_size(), 0);
  EXPECT_FALSE(proxy_variables(wire::Egress::PROXY).empty());
}

}  // namespace
}  // namespace paddock::engine
