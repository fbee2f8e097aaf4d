// Base64 of RFC 4648 section 4: the standard alphabet, padded. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock {

std::string base64_encode(std::string_view bytes);

// Strict: no blanks, padding required, unused bits zero, so that each byte string has one text.
Result<std::string> base64_decode(std::string_view text);

}  // namespace paddock
