// One call of envd's Connect services in one sandbox.
#pragma once

#include <boost/json.hpp>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "api/e2b/connect.h"
#include "engine/live/live_sandbox.h"
#include "net/http/exchange.h"
#include "net/task.h"

namespace paddock::api::e2b {

// All that a call works with; lives as long as the handler of its request.
struct Call {
  net::Task& task;
  net::http::Exchange& exchange;
  std::shared_ptr<engine::LiveSandbox> sandbox;
  std::optional<engine::GuestUser> user = std::nullopt;  // unset: the sandbox's own

  engine::Inside inside() const { return {*sandbox, user}; }
  const std::string& home() const { return user ? user->home : sandbox->setup().home; }
  // Where commands start, and what relative paths are of.
  const std::string& directory() const {
    return sandbox->setup().directory.empty() ? home() : sandbox->setup().directory;
  }
};

using Answer = std::variant<boost::json::object, ConnectError>;

// Request bodies: base64 of what is typed or piped in is the longest.
inline constexpr size_t kMaxMessage = 8u << 20;
// Between signs of life on a stream that has nothing to say, unless the client asks for others.
inline constexpr uint64_t kDefaultPingSeconds = 90;

Status respond_json(net::Task& task, net::http::Exchange& exchange, int status,
                    const boost::json::value& body);
Status respond_error(net::Task& task, net::http::Exchange& exchange, const ConnectError& error);

// `method` is what follows the service's name.
Status serve_process(const Call& call, std::string_view method);
Status serve_filesystem(const Call& call, std::string_view method);

// A header that is a number; `otherwise` when it is not there or none.
uint64_t header_number(const Call& call, std::string_view name, uint64_t otherwise);

// Of a unary call: the body, or why it cannot be taken.
std::variant<boost::json::object, ConnectError> read_unary(const Call& call);
Status respond(const Call& call, const Answer& answer);

// The response of a call that streams. Heads are 200; errors stand in the last envelope.
class EventStream {
 public:
  explicit EventStream(const Call& call) : call_(call) {}

  Status begin();
  Status send(const boost::json::object& message);
  Status end();
  Status end(const ConnectError& error);

 private:
  const Call& call_;
};
// A call that streams and cannot begin: nothing but the error.
Status refuse_stream(const Call& call, const ConnectError& error);
// The first message of the request.
std::variant<boost::json::object, ConnectError> read_first(const Call& call);

}  // namespace paddock::api::e2b
