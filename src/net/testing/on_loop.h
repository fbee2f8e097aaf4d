// Runs code in a coroutine from a test and waits for it.
#pragma once

#include <sys/socket.h>

#include <future>
#include <utility>

#include "net/socket_stream.h"
#include "net/task.h"

namespace paddock::net::testing {

template <typename F>
auto run_on(Loop& loop, F body) {
  using T = decltype(body(std::declval<Task&>()));
  auto done = std::make_shared<std::promise<T>>();
  auto future = done->get_future();
  loop.spawn([done, body = std::move(body)](Task& task) mutable {
    if constexpr (std::is_void_v<T>) {
      body(task);
      done->set_value();
    } else {
      done->set_value(body(task));
    }
  });
  return future.get();
}

struct SocketPair {
  sys::SocketFd a, b;
};

inline SocketPair socket_pair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) std::abort();
  return {sys::SocketFd(fds[0]), sys::SocketFd(fds[1])};
}

inline std::string read_text(Task& task, Stream& stream, size_t count) {
  std::string out;
  while (out.size() < count) {
    char buffer[4096];
    auto got = stream.read(task, std::span(buffer, std::min(sizeof buffer, count - out.size())));
    if (!got.ok() || *got == 0) break;
    out.append(buffer, *got);
  }
  return out;
}

}  // namespace paddock::net::testing
