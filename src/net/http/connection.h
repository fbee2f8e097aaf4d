// One client's connection: request after request.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "net/http/exchange.h"
#include "net/stream.h"

namespace paddock::net::http {

using Handler = std::function<void(Task& task, Exchange& exchange)>;

// How long a client may take before it is cut off. A body may take as long as it likes while bytes
// come; a response as long as its reader takes some.
struct Patience {
  std::chrono::milliseconds greeting{10'000};  // TLS's handshake
  std::chrono::milliseconds idle{75'000};      // between requests
  std::chrono::milliseconds head{10'000};      // from its first byte to its last
  std::chrono::milliseconds body{60'000};      // between two pieces
  std::chrono::milliseconds write{60'000};     // for a piece of at most 64 KiB
};

// Returns when the connection is over.
void serve_connection(Task& task, std::shared_ptr<Stream> stream, const Handler& handler,
                      const Patience& patience);

}  // namespace paddock::net::http
