#include "net/http/server.h"

#include <string_view>
#include <utility>

namespace paddock::net::http {
namespace {

constexpr std::string_view kBusy =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: "
    "1\r\n\r\n";

// Shared by the connections, which may outlive serve().
struct State {
  Handler handler;
  ServerOptions options;
  size_t connections = 0;
};

}  // namespace

void serve(Task& task, std::shared_ptr<Listener> listener, Handler handler,
           const ServerOptions& options) {
  auto state = std::make_shared<State>(State{std::move(handler), options});
  while (true) {
    auto accepted = listener->accept(task);
    if (!accepted.ok()) return;
    std::shared_ptr<SocketStream> stream = std::move(*accepted);
    if (state->connections >= state->options.max_connections) {
      (void)stream->write(task, kBusy).ok();  // fits into the socket's buffer: does not wait
      continue;
    }
    ++state->connections;
    loop_of(task).spawn([state, stream = std::move(stream)](Task& connection) {
      serve_connection(connection, stream, state->handler, state->options.patience);
      --state->connections;
    });
  }
}

}  // namespace paddock::net::http
