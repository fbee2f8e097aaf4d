// An HTTP/1.1 server: connections from a listener to a handler.
#pragma once

#include <cstddef>
#include <memory>

#include "net/http/connection.h"
#include "net/listener.h"

namespace paddock::net::http {

struct ServerOptions {
  Patience patience;
  size_t max_connections = 4096;  // further ones are told that the server is busy
};

// Serves until the listener is closed or the loop ends; connections that are open then go on. What
// the handler refers to must outlive the loop. The listener may not: give up the last other hold on
// it on the loop's thread.
void serve(Task& task, std::shared_ptr<Listener> listener, Handler handler,
           const ServerOptions& options);

}  // namespace paddock::net::http
