// What a TLS client says before anything is encrypted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddock::egress::tls {

struct ClientHello {
  std::optional<std::string> server_name;  // as sent
  std::vector<std::string> protocols;      // ALPN, as sent
  bool encrypted_hello = false;            // ECH: the name above is a cover
};

// Beyond this a hello is refused; those with post-quantum key shares are under 2 KiB.
inline constexpr size_t kMaxHello = 32 * 1024;

// The hello at the start of a client's stream, however it is cut into records. nullopt: it goes on,
// read more. data_corrupt: not a hello, or one that says two things.
Result<std::optional<ClientHello>> parse_client_hello(std::string_view stream);

}  // namespace paddock::egress::tls
