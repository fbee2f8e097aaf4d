// Owners of file descriptors. Move-only, close-on-exec from birth, never converting to bool or int.
#pragma once

#include <cstdint>
#include <utility>

namespace paddock::sys {

// Owns one descriptor, or none (after a move or release). Not thread-safe; hand over by move.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

// What a descriptor refers to is part of its type, so that a mount is not passed for a socket.
struct DirFd : Fd {
  using Fd::Fd;
  explicit DirFd(Fd fd) : Fd(std::move(fd)) {}
};
struct FileFd : Fd {
  using Fd::Fd;
  explicit FileFd(Fd fd) : Fd(std::move(fd)) {}
};
struct PidFd : Fd {
  using Fd::Fd;
  explicit PidFd(Fd fd) : Fd(std::move(fd)) {}
};
struct MountFd : Fd {
  using Fd::Fd;
  explicit MountFd(Fd fd) : Fd(std::move(fd)) {}
};
struct SocketFd : Fd {
  using Fd::Fd;
  explicit SocketFd(Fd fd) : Fd(std::move(fd)) {}
};

// Raises the soft limit of this process's descriptors to the hard one: shells keep the soft one low
// for programs that use select(2).
void allow_most_descriptors();

}  // namespace paddock::sys
