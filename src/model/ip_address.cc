#include "model/ip_address.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"

namespace paddock::model {
namespace {

Error not_an_address(std::string_view text) {
  return Error(Code::invalid_argument,
               fmt::format("'{}' is not an IP address in its usual form", printable(text)));
}

// Whether the first `prefix` bits are equal; both of one family.
bool same_prefix(const IpAddress& a, const IpAddress& b, unsigned prefix) {
  const auto left = a.bytes();
  const auto right = b.bytes();
  const size_t whole = prefix / 8;
  if (!std::equal(left.begin(), left.begin() + static_cast<ptrdiff_t>(whole), right.begin())) {
    return false;
  }
  const unsigned rest = prefix % 8;
  return rest == 0 || (left[whole] ^ right[whole]) >> (8 - rest) == 0;
}

bool is_zero_beyond(const IpAddress& address, unsigned prefix) {
  const auto bytes = address.bytes();
  for (unsigned bit = prefix; bit < bytes.size() * 8; ++bit) {
    if ((bytes[bit / 8] >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

}  // namespace

IpAddress IpAddress::of(const V4& bytes) {
  IpAddress address;
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin());
  return address;
}

IpAddress IpAddress::of(const V6& bytes) {
  IpAddress address;
  address.size_ = 16;
  address.bytes_ = bytes;
  return address;
}

Result<IpAddress> IpAddress::from_bytes(std::string_view raw) {
  if (raw.size() != 4 && raw.size() != 16) {
    return Error(Code::invalid_argument,
                 fmt::format("an address has 4 or 16 bytes, not {}", raw.size()));
  }
  IpAddress address;
  address.size_ = static_cast<uint8_t>(raw.size());
  std::copy(raw.begin(), raw.end(), address.bytes_.begin());
  return address;
}

// glibc's inet_pton refuses leading zeros, short forms, hex and zones.
Result<IpAddress> IpAddress::parse(std::string_view text) {
  const std::string copy(text);
  if (copy.find('\0') != std::string::npos) return not_an_address(text);
  IpAddress address;
  if (inet_pton(AF_INET, copy.c_str(), address.bytes_.data()) == 1) return address;
  address.size_ = 16;
  if (inet_pton(AF_INET6, copy.c_str(), address.bytes_.data()) == 1) return address;
  return not_an_address(text);
}

std::string IpAddress::raw() const {
  return std::string(bytes_.begin(), bytes_.begin() + size_);
}

std::string IpAddress::str() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(is_v4() ? AF_INET : AF_INET6, bytes_.data(), text.data(), text.size());
  return text.data();
}

std::string IpAddress::with_port(uint16_t port) const {
  return is_v4() ? fmt::format("{}:{}", str(), port) : fmt::format("[{}]:{}", str(), port);
}

Result<Cidr> Cidr::parse(std::string_view text) {
  const size_t slash = text.find('/');
  Cidr block;
  block.base_ = PD_TRY(IpAddress::parse(text.substr(0, slash)));
  const auto width = static_cast<uint8_t>(block.base_.bytes().size() * 8);
  block.prefix_ = width;
  if (slash == std::string_view::npos) return block;
  const auto prefix = parse_u64(text.substr(slash + 1));
  if (!prefix || *prefix > width) {
    return Error(Code::invalid_argument,
                 fmt::format("'{}': the prefix is not a number up to {}", printable(text), width));
  }
  block.prefix_ = static_cast<uint8_t>(*prefix);
  if (!is_zero_beyond(block.base_, block.prefix_)) {
    return Error(Code::invalid_argument,
                 fmt::format("'{}' has bits set beyond /{}", printable(text), *prefix))
        .set_remedy("write the block's first address, or the address alone");
  }
  return block;
}

Cidr Cidr::of(const IpAddress& base, uint8_t prefix) {
  Cidr block;
  block.base_ = base;
  block.prefix_ = prefix;
  return block;
}

bool Cidr::contains(const IpAddress& address) const {
  return address.is_v4() == base_.is_v4() && same_prefix(base_, address, prefix_);
}

bool Cidr::overlaps(const Cidr& other) const {
  return base_.is_v4() == other.base_.is_v4() &&
         same_prefix(base_, other.base_, std::min(prefix_, other.prefix_));
}

std::string Cidr::str() const {
  return is_single() ? base_.str() : fmt::format("{}/{}", base_.str(), prefix_);
}

}  // namespace paddock::model
