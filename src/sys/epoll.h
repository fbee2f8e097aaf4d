// Waiting for several descriptors.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <span>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

// Owns an epoll instance. Not thread-safe. A descriptor that a forked child still holds stays
// registered after close(2): call remove() first.
class Epoll {
 public:
  static Result<Epoll> open();

  int fd() const { return fd_.get(); }  // readable when something is ready

  Status add(const Fd& fd, uint32_t events, uint64_t token);
  Status modify(const Fd& fd, uint32_t events, uint64_t token);
  void remove(const Fd& fd);
  // What is ready, in the front of `events`; empty after the time-out or a signal. -1: no time-out.
  Result<std::span<epoll_event>> wait(std::span<epoll_event> events, int timeout_ms);

 private:
  explicit Epoll(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace paddock::sys
