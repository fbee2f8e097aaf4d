// What a client has sent and nobody has taken yet.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/condition.h"
#include "net/stream.h"

namespace paddock::net::http {

// Read by a coroutine of its own, so that a client that leaves is noticed while nobody reads.
// Bounded: with a full buffer the client waits. Lives until both its reader and its owner let go.
class InputBuffer : public std::enable_shared_from_this<InputBuffer> {
 public:
  InputBuffer(Loop& loop, std::shared_ptr<Stream> stream);

  // Starts the reader.
  void start();
  std::string_view bytes() const { return std::string_view(buffer_).substr(taken_); }
  void take(size_t count);
  // The client sends no more, or is gone.
  bool has_ended() const { return ended_; }
  // Returns when there are more than `known` bytes, at the end, or when the time is up.
  void wait_for_more(Task& task, size_t known, std::chrono::milliseconds time);
  // Ends the wait for more.
  void wake() { changed_.notify_all(); }
  // Called when the client ends its side; nullptr: by nobody.
  void on_end(std::function<void()> notify);

 private:
  void read(Task& task);

  Loop& loop_;
  std::shared_ptr<Stream> stream_;
  Condition changed_;
  Condition room_;
  std::string buffer_;
  size_t taken_ = 0;
  bool ended_ = false;
  std::function<void()> notify_;
};

}  // namespace paddock::net::http
