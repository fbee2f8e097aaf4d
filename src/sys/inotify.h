// Changes of directories as events of a descriptor (inotify(7)).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

struct InotifyEvent {
  int watch = -1;
  uint32_t mask = 0;    // IN_*
  uint32_t cookie = 0;  // the same at both ends of a move
  std::string name;     // in the watched directory; empty: the directory itself
};

// Owns one inotify instance, of which a user has few (fs.inotify.max_user_instances). Not
// thread-safe.
class Inotify {
 public:
  static Result<Inotify> open();

  const Fd& descriptor() const { return fd_; }
  // The same inode gives the same number again. resource_exhausted: fs.inotify.max_user_watches.
  Result<int> watch(const std::string& path, uint32_t mask);
  // What is still queued for it comes all the same.
  void forget(int watch);
  // How many bytes of events are queued.
  size_t queued() const;
  // Some of them; none when nothing is queued. `taken` bytes of queued() went.
  struct Batch {
    std::vector<InotifyEvent> events;
    size_t taken = 0;
  };
  Result<Batch> read();

 private:
  explicit Inotify(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace paddock::sys
