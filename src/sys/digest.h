// SHA-256 by OpenSSL.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

// Lower-case hex, 64 characters.
std::string sha256_hex(std::string_view bytes);
// Of everything from the descriptor's offset to its end.
Result<std::string> sha256_hex(const Fd& fd);

}  // namespace paddock::sys
