// HMAC-SHA-256 by OpenSSL.
#pragma once

#include <string>
#include <string_view>

namespace paddock::egress {

// 32 bytes. Aborts when the library cannot (out of memory).
std::string hmac_sha256(std::string_view key, std::string_view bytes);
std::string to_hex(std::string_view bytes);

}  // namespace paddock::egress
