// Where a redirected connection was going.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

struct Endpoint {
  std::string address;  // 4 or 16 bytes, network order
  uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

// What the program connected to, before netfilter rewrote it. invalid_argument: it connected here
// of its own accord.
Result<Endpoint> original_destination(const SocketFd& accepted);

// The program's own address.
Result<Endpoint> peer_of(const SocketFd& socket);

}  // namespace paddock::sys
