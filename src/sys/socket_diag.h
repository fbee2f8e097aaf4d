// Which socket of this network namespace has given addresses.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "sys/fd.h"
#include "sys/original_destination.h"

namespace paddock::sys {

// Owns a sock_diag(7) socket. Asking needs no privilege. Not thread-safe.
class SocketDiag {
 public:
  static Result<SocketDiag> open();

  enum class Protocol { tcp, udp };
  // The inode, as in "socket:[N]" of /proc/PID/fd, of the socket that sends from `local` to
  // `remote`.
  std::optional<uint64_t> find_inode(Protocol protocol, const Endpoint& local,
                                     const Endpoint& remote) const;

 private:
  explicit SocketDiag(SocketFd socket) : socket_(std::move(socket)) {}
  SocketFd socket_;
};

}  // namespace paddock::sys
