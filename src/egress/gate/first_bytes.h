// What a client's first bytes are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "egress/rules/seen.h"

namespace paddock::egress {

struct FirstBytes {
  Wire wire = Wire::other;
  std::optional<tls::ClientHello> hello;  // of TLS
  bool http2 = false;                     // of HTTP: version 2 by prior knowledge
};

// Whether every protocol is looked for, or TLS alone (where nothing else makes a difference).
enum class LookFor { any_protocol, tls };

// nullopt: it cannot be told yet, read more. Never nullopt beyond kMaxFirstBytes.
inline constexpr size_t kMaxFirstBytes = 32 * 1024;
std::optional<FirstBytes> classify_first_bytes(std::string_view stream,
                                               LookFor look_for = LookFor::any_protocol);

}  // namespace paddock::egress
