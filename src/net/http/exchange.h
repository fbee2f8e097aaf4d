// One request and its response, as a handler sees them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/message.h"
#include "net/stream.h"
#include "net/task.h"

namespace paddock::net::http {

// Bodies stream both ways. Belongs to one coroutine; dies with the handler's return. A failed read
// or write means that the connection is of no more use: return.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const RequestHead& request() const = 0;

  // At least one byte; 0 at the end of the body. timed_out: the client sends nothing for too long.
  virtual Result<size_t> read_body(Task& task, std::span<char> into) = 0;
  // resource_exhausted: longer than `limit`.
  Result<std::string> read_whole_body(Task& task, size_t limit);

  // The whole response at once.
  virtual Status respond(Task& task, const Response& response) = 0;
  // Its head (`body` is ignored), then pieces, then the end. With a length the pieces must add up
  // to it; without one they are chunks. Every piece is sent at once.
  virtual Status begin(Task& task, const Response& head, std::optional<uint64_t> length) = 0;
  virtual Status write(Task& task, std::string_view piece) = 0;
  virtual Status finish(Task& task) = 0;
  virtual bool has_begun() const = 0;

  // Reads of the body that wait, and later ones, fail: for another coroutine that reads it while
  // this one writes.
  virtual void stop_reading() = 0;
  // Answers with `head` (status 101) and leaves HTTP: the stream begins behind the request and is
  // good until the handler returns.
  virtual Result<Stream*> switch_protocols(Task& task, const Response& head) = 0;

  // Called once, on the loop's thread and while the handler lives, when the client has gone, or at
  // once if it has. It may not wait.
  virtual void on_client_gone(std::function<void()> notify) = 0;

  // For whoever keeps a record: why it failed, where the status alone does not tell.
  virtual void note_failure(std::string_view what) { (void)what; }
};

}  // namespace paddock::net::http
