// Streams on sockets, and connecting them.
#pragma once

#include <chrono>
#include <memory>
#include <span>

#include "model/ip_address.h"
#include "net/stream.h"
#include "sys/fd.h"

namespace paddock::net {

// Owns a connected stream socket (TCP or unix) and makes it non-blocking.
class SocketStream : public Stream {
 public:
  SocketStream(Loop& loop, sys::SocketFd socket);
  ~SocketStream() override;

  Result<size_t> read(Task& task, std::span<char> into) override;
  Status write(Task& task, std::string_view bytes) override;
  Status end_writing(Task& task) override;
  void abort() override;

  Status wait_readable(Task& task) override;
  Status wait_writable(Task& task);
  // Ends the waits of another coroutine with an error; nothing is lost.
  void cancel_waits();
  int fd() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Which of two has something to read first.
enum class First { a, b };
Result<First> wait_either(Task& task, SocketStream& a, SocketStream& b);

// TCP. unavailable or timed_out says which address it was.
Result<std::unique_ptr<SocketStream>> dial(Task& task, const model::IpAddress& address,
                                           uint16_t port, std::chrono::milliseconds patience);

}  // namespace paddock::net
