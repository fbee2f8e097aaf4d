// What OpenSSL says of its last call.
#pragma once

#include <openssl/err.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::net {

// Takes the oldest error of this thread and forgets the others.
inline Error openssl_error(std::string_view doing) {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return Error(Code::internal,
               std::string(doing) + ": " + (reason != nullptr ? reason : "OpenSSL failed"));
}

}  // namespace paddock::net
