#include "egress/credentials/hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstdlib>

namespace paddock::egress {

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  std::array<unsigned char, 32> out{};
  unsigned size = 0;
  // SAFETY: chars as bytes.
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data, bytes.size(), out.data(),
           &size) == nullptr) {
    std::abort();
  }
  return {out.begin(), out.end()};
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

}  // namespace paddock::egress
