// Numbers and strings as ssh writes them (RFC 4251 section 5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::egress::ssh {

inline std::string encoded(uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
  return out;
}

// With its length in front.
inline std::string encoded(std::string_view bytes) {
  return encoded(static_cast<uint32_t>(bytes.size())) + std::string(bytes);
}

}  // namespace paddock::egress::ssh
