#include "sys/pipe.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace paddock::sys {

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error::from_errno(errno, "creating a pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<SocketPair> make_socket_pair(int type) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error::from_errno(errno, "creating a socket pair");
  }
  return SocketPair{SocketFd(ends[0]), SocketFd(ends[1])};
}

Status set_nonblocking(const Fd& fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return Error::from_errno(errno, "making a descriptor non-blocking");
  }
  return {};
}

}  // namespace paddock::sys
