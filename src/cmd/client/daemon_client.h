// Talking to the daemon of this PADDOCK_HOME over its socket, where no key is asked for.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cmd/client/http_reply.h"
#include "model/paths.h"
#include "sys/fd.h"

namespace paddock::cmd {

// One request on a connection of its own; its answer as it comes. Used by one thread, but for
// shut_down().
class DaemonCall {
 public:
  struct Request {
    std::string method;
    std::string target;
    std::string body;
    std::string type = "application/json";
    // In place of `body`: so many bytes of that file.
    int file = -1;
    uint64_t file_size = 0;
  };

  // unavailable: no daemon works in that home.
  static Result<DaemonCall> start(const model::HostPath& home, const Request& request);

  int fd() const { return socket_.get(); }
  bool is_done() const { return reply_.is_done(); }
  // Waits for more of the body; may be empty. Behind the last of it is_done().
  Result<std::string> read();
  // Waits for the head, and for the whole body of an error: that error.
  Status check();
  Result<std::string> read_all(size_t limit);
  // From any thread: what waits here fails.
  void shut_down();

 private:
  explicit DaemonCall(sys::SocketFd socket) : socket_(std::move(socket)) {}

  sys::SocketFd socket_;
  HttpReply reply_;
  std::string ahead_;  // of the body, read with the head
};

// The whole of it: a body that is JSON, or nothing.
Result<boost::json::object> call_daemon(const model::HostPath& home, const std::string& method,
                                        const std::string& target,
                                        const boost::json::object& body = {});
// One segment of a path, or a value of a query.
std::string url_encode(std::string_view text);

}  // namespace paddock::cmd
