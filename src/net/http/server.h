// An HTTP/1.1 server: connections from a listener to a handler.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "net/http/connection.h"
#include "net/listener.h"
#include "net/server_identity.h"

namespace paddock::net::http {

// TLS for all of a listener's clients.
struct Security {
  ServerIdentity& identity;  // outlives the loop
  Handler plain;             // answers who speaks plain HTTP here
  // Handshakes under way; one more ends the oldest.
  size_t max_greetings = 256;
  std::function<void(const Error&)> on_failed = nullptr;  // a handshake, for whoever counts
};

struct ServerOptions {
  Patience patience;
  size_t max_connections = 4096;  // further ones are told that the server is busy
  std::shared_ptr<const Security> security = nullptr;  // nullptr: plain HTTP
};

// Serves until the listener is closed or the loop ends; connections that are open then go on. What
// the handler refers to must outlive the loop. The listener may not: give up the last other hold on
// it on the loop's thread.
void serve(Task& task, std::shared_ptr<Listener> listener, Handler handler,
           const ServerOptions& options);

}  // namespace paddock::net::http
