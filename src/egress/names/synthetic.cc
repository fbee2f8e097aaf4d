#include "egress/names/synthetic.h"

#include <fmt/core.h>

namespace paddock::egress {
namespace {

using model::Cidr;
using model::IpAddress;

// 198.18.0.1 is the sandbox's own address on lo and stays out of use.
constexpr uint32_t kBase = 198u << 24 | 18u << 16;
constexpr uint32_t kFirst = 16;

const Cidr& v4_block() {
  static const Cidr block = Cidr::parse("198.18.0.0/15").value();
  return block;
}

const Cidr& v6_block() {
  static const Cidr block = Cidr::parse("2001:2::/96").value();
  return block;
}

IpAddress::V4 big_endian(uint32_t number) {
  return {static_cast<uint8_t>(number >> 24), static_cast<uint8_t>(number >> 16),
          static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)};
}

SyntheticPair pair_of(uint32_t index) {
  const IpAddress::V4 inner = big_endian(kBase + kFirst + index);
  IpAddress::V6 outer{0x20, 0x01, 0x00, 0x02};
  std::copy(inner.begin(), inner.end(), outer.begin() + 12);
  return {IpAddress::of(inner), IpAddress::of(outer)};
}

}  // namespace

bool SyntheticAddresses::is_synthetic(const IpAddress& address) {
  return v4_block().contains(address) || v6_block().contains(address);
}

Result<SyntheticPair> SyntheticAddresses::address_of(const HostName& name) {
  if (auto known = index_.find(name); known != index_.end()) return pair_of(known->second);
  if (names_.size() >= kMaxNames) {
    return Error(Code::resource_exhausted,
                 fmt::format("resolving {}: this sandbox has resolved {} names already", name.str(),
                             kMaxNames))
        .set_remedy("allow the hosts it needs by name instead of by wildcard");
  }
  const auto index = static_cast<uint32_t>(names_.size());
  index_.emplace(name, index);
  names_.push_back(name);
  return pair_of(index);
}

std::optional<HostName> SyntheticAddresses::name_of(const IpAddress& address) const {
  if (!is_synthetic(address)) return std::nullopt;
  const auto last = address.bytes().last(4);
  uint32_t number = 0;
  for (uint8_t byte : last) number = number << 8 | byte;
  const uint32_t index = number - kBase - kFirst;  // wraps below the first: out of range too
  if (index >= names_.size()) return std::nullopt;
  return names_[index];
}

}  // namespace paddock::egress
