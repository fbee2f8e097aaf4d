// Reads the length-prefixed fields of TLS messages. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace paddock::egress::tls {

// A cursor over bytes that it does not own. A read beyond the end gives nullopt and moves nothing.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  size_t size() const { return rest_.size(); }

  // Big-endian, `width` bytes.
  std::optional<uint32_t> number(size_t width) {
    if (rest_.size() < width) return std::nullopt;
    uint32_t value = 0;
    for (size_t i = 0; i < width; ++i) value = value << 8 | static_cast<uint8_t>(rest_[i]);
    rest_.remove_prefix(width);
    return value;
  }

  std::optional<std::string_view> bytes(size_t count) {
    if (rest_.size() < count) return std::nullopt;
    const std::string_view out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }

  // Bytes behind a length of `width` bytes.
  std::optional<std::string_view> vector(size_t width) {
    ByteReader probe = *this;
    const auto length = probe.number(width);
    const auto out = length ? probe.bytes(*length) : std::nullopt;
    if (out) *this = probe;
    return out;
  }

 private:
  std::string_view rest_;
};

}  // namespace paddock::egress::tls
