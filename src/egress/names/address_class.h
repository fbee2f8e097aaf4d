// What an address is, and so whether a sandbox may reach it. Only `global` may be dialled without a
// rule that names the exact address; the classes follow the IANA special-purpose registries (RFC
// 6890 and later), with the metadata services of the clouds set apart.
//
// Forms that carry a v4 address inside a v6 one are judged by their carrier: mapped, 6to4, Teredo,
// ISATAP and local NAT64 are refused whatever they hold; under the well-known NAT64 prefix, which
// IPv6-only networks answer with for every public host, the address inside decides.
#pragma once

#include <string_view>

#include "base/enum_names.h"
#include "model/ip_address.h"

namespace paddock::egress {

enum class AddressClass {
  global,
  unspecified,
  loopback,
  private_use,
  shared,  // carrier-grade NAT
  link_local,
  metadata,
  multicast,
  broadcast,
  documentation,
  benchmarking,  // holds our own synthetic addresses
  mapped,        // ::ffff:0:0/96 and the other v4-in-v6 forms
  translated,
  tunnelled,
  reserved
};
inline constexpr EnumNames<AddressClass, 15> kAddressClassNames{
    {{AddressClass::global, "public"},
     {AddressClass::unspecified, "unspecified"},
     {AddressClass::loopback, "loopback"},
     {AddressClass::private_use, "private"},
     {AddressClass::shared, "shared (carrier-grade NAT)"},
     {AddressClass::link_local, "link-local"},
     {AddressClass::metadata, "metadata service"},
     {AddressClass::multicast, "multicast"},
     {AddressClass::broadcast, "broadcast"},
     {AddressClass::documentation, "documentation"},
     {AddressClass::benchmarking, "benchmarking"},
     {AddressClass::mapped, "IPv4-mapped"},
     {AddressClass::translated, "NAT64"},
     {AddressClass::tunnelled, "tunnel (6to4, Teredo, ISATAP)"},
     {AddressClass::reserved, "reserved"}}};

AddressClass classify(const model::IpAddress& address);

// Whether every address of the block is `global`.
bool is_all_global(const model::Cidr& block);

}  // namespace paddock::egress
