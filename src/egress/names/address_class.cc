#include "egress/names/address_class.h"

#include <algorithm>
#include <array>
#include <vector>

namespace paddock::egress {
namespace {

using enum AddressClass;
using model::Cidr;
using model::IpAddress;

struct Row {
  std::string_view block;
  AddressClass kind;
};

// First match wins, so that single addresses stand before the blocks that hold them.
constexpr std::array kRows{
    Row{"169.254.169.254", metadata},  // most clouds
    Row{"169.254.170.2", metadata},    // container credentials of AWS ECS
    Row{"169.254.170.23", metadata},   // and of EKS
    Row{"169.254.0.23", metadata},     // Tencent
    Row{"100.100.100.200", metadata},  // Alibaba
    Row{"168.63.129.16", metadata},    // Azure's wire server, in a public block
    Row{"192.0.0.192", metadata},      // Oracle
    Row{"fd00:ec2::254", metadata},    // AWS
    Row{"fd00:ec2::23", metadata},
    Row{"fd20:ce::254", metadata},  // Google
    Row{"fd00:42::42", metadata},   // Scaleway
    Row{"0.0.0.0", unspecified},
    Row{"0.0.0.0/8", reserved},  // "this network"; Linux connects 0.0.0.0 to itself
    Row{"10.0.0.0/8", private_use},
    Row{"100.64.0.0/10", shared},
    Row{"127.0.0.0/8", loopback},
    Row{"169.254.0.0/16", link_local},
    Row{"172.16.0.0/12", private_use},
    Row{"192.0.0.0/24", reserved},  // IETF protocol assignments
    Row{"192.0.2.0/24", documentation},
    Row{"192.88.99.0/24", tunnelled},  // 6to4 relay anycast
    Row{"192.168.0.0/16", private_use},
    Row{"198.18.0.0/15", benchmarking},
    Row{"198.51.100.0/24", documentation},
    Row{"203.0.113.0/24", documentation},
    Row{"224.0.0.0/4", multicast},
    Row{"255.255.255.255", broadcast},
    Row{"240.0.0.0/4", reserved},
    Row{"::", unspecified},
    Row{"::1", loopback},
    Row{"::ffff:0:0/96", mapped},
    Row{"::ffff:0:0:0/96", mapped},  // SIIT, RFC 2765
    Row{"::/96", mapped},            // "IPv4-compatible", RFC 4291
    Row{"64:ff9b:1::/48", translated},
    Row{"fc00::/7", private_use},
    Row{"fe80::/10", link_local},
    Row{"fec0::/10", private_use},  // site-local
    Row{"ff00::/8", multicast},
    Row{"2001::/32", tunnelled},  // Teredo
    Row{"2001:2::/48", benchmarking},
    Row{"2001:db8::/32", documentation},
    Row{"2001::/23", reserved},   // IETF protocol assignments, ORCHID
    Row{"2002::/16", tunnelled},  // 6to4
    Row{"3fff::/20", documentation},
};

struct CompiledRow {
  Cidr block;
  AddressClass kind;
};

const std::vector<CompiledRow>& rows() {
  static const std::vector<CompiledRow> compiled = [] {
    std::vector<CompiledRow> out;
    for (const Row& row : kRows) out.push_back({Cidr::parse(row.block).value(), row.kind});
    return out;
  }();
  return compiled;
}

const Cidr& global_unicast_v6() {
  static const Cidr block = Cidr::parse("2000::/3").value();
  return block;
}

const Cidr& nat64() {
  static const Cidr block = Cidr::parse("64:ff9b::/96").value();
  return block;
}

// RFC 5214: the interface identifier is ::0:5efe:a.b.c.d, its universal bit set or not.
bool is_isatap(const IpAddress& address) {
  const auto b = address.bytes();
  return (b[8] & ~3) == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe;
}

IpAddress last_four_bytes(const IpAddress& address) {
  IpAddress::V4 inner{};
  std::copy_n(address.bytes().begin() + 12, 4, inner.begin());
  return IpAddress::of(inner);
}

}  // namespace

AddressClass classify(const IpAddress& address) {
  for (const CompiledRow& row : rows()) {
    if (row.block.contains(address)) return row.kind;
  }
  if (address.is_v4()) return global;
  if (nat64().contains(address)) {
    return classify(last_four_bytes(address)) == global ? global : translated;
  }
  if (is_isatap(address)) return tunnelled;
  return global_unicast_v6().contains(address) ? global : reserved;
}

bool is_all_global(const Cidr& block) {
  if (block.is_single()) return classify(block.base()) == global;
  const bool holds_a_special_one =
      std::any_of(rows().begin(), rows().end(),
                  [&](const CompiledRow& row) { return row.block.overlaps(block); });
  // A v6 block of more than one address holds ISATAP and translated ones; dialling classifies each.
  return !holds_a_special_one && classify(block.base()) == global;
}

}  // namespace paddock::egress
