// An IPv4 or IPv6 address and a block of them, as values. Which ones a sandbox may reach is decided
// in egress; here they are only read, printed, compared and contained.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::model {

// Network byte order. A v4 address and its v4-mapped v6 form are different values.
class IpAddress {
 public:
  using V4 = std::array<uint8_t, 4>;
  using V6 = std::array<uint8_t, 16>;

  static IpAddress of(const V4& bytes);
  static IpAddress of(const V6& bytes);
  // 4 or 16 bytes; invalid_argument otherwise.
  static Result<IpAddress> from_bytes(std::string_view raw);

  // Canonical dotted quads only (no octal, hex, short or padded forms), any RFC 4291 text of IPv6
  // without a zone.
  static Result<IpAddress> parse(std::string_view text);

  bool is_v4() const { return size_ == 4; }
  std::span<const uint8_t> bytes() const { return {bytes_.data(), size_}; }
  std::string raw() const;
  std::string str() const;  // RFC 5952
  // "192.0.2.1:443", "[2001:db8::1]:443".
  std::string with_port(uint16_t port) const;

  auto operator<=>(const IpAddress&) const = default;

 private:
  uint8_t size_ = 4;
  V6 bytes_{};
};

// A block. An address alone is a block of one.
class Cidr {
 public:
  // "198.51.100.0/24", "2001:db8::/32", "192.0.2.1". Bits beyond the prefix must be zero, so that
  // nobody writes 10.1.2.3/8 and means one host.
  static Result<Cidr> parse(std::string_view text);
  static Cidr of(const IpAddress& base, uint8_t prefix);

  bool contains(const IpAddress& address) const;
  bool overlaps(const Cidr& other) const;
  bool is_single() const { return prefix_ == base_.bytes().size() * 8; }
  const IpAddress& base() const { return base_; }
  uint8_t prefix() const { return prefix_; }
  std::string str() const;

  auto operator<=>(const Cidr&) const = default;

 private:
  IpAddress base_;
  uint8_t prefix_ = 32;
};

}  // namespace paddock::model
