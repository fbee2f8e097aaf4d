#include "net/http/server.h"

#include <string_view>
#include <utility>

#include "net/http/greeting.h"

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
  Greetings under_way;
};

void serve_client(Task& task, std::unique_ptr<SocketStream> accepted, State& state) {
  const ServerOptions& options = state.options;
  std::shared_ptr<Stream> stream;
  if (options.security) {
    stream =
        greet(task, std::move(accepted), {*options.security, options.patience, state.under_way});
  } else {
    stream = std::move(accepted);
  }
  if (stream) serve_connection(task, std::move(stream), state.handler, options.patience);
}

}  // namespace

void serve(Task& task, std::shared_ptr<Listener> listener, Handler handler,
           const ServerOptions& options) {
  auto state = std::make_shared<State>(State{std::move(handler), options});
  while (true) {
    auto accepted = listener->accept(task);
    if (!accepted.ok()) return;
    std::unique_ptr<SocketStream> stream = std::move(*accepted);
    if (state->connections >= state->options.max_connections) {
      // Fits into the socket's buffer: does not wait. With TLS nobody could read it.
      if (!options.security) (void)stream->write(task, kBusy).ok();
      continue;
    }
    ++state->connections;
    loop_of(task).spawn([state, held = std::make_shared<std::unique_ptr<SocketStream>>(
                                    std::move(stream))](Task& connection) {
      serve_client(connection, std::move(*held), *state);
      --state->connections;
    });
  }
}

}  // namespace paddock::net::http
