// Pairs of connected descriptors.
#pragma once

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

struct Pipe {
  Fd read;
  Fd write;
};
Result<Pipe> make_pipe();  // both ends block

struct SocketPair {
  SocketFd first;
  SocketFd second;
};
// Unix sockets. `type` is SOCK_STREAM or SOCK_SEQPACKET, or'ed with SOCK_NONBLOCK where wanted.
Result<SocketPair> make_socket_pair(int type);

Status set_nonblocking(const Fd& fd);

}  // namespace paddock::sys
