// Unix sockets that are named by a directory and a file in it: however long the directory's path
// is.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

struct Listening {
  mode_t mode = 0600;  // of the file
  int backlog = 8;     // who waits to be accepted
};
// Listens at `name` in `directory`, without blocking. already_exists: something is there.
Result<SocketFd> listen_unix(const DirFd& directory, const std::string& name,
                             const Listening& how = {});

// Connects without waiting; the descriptor does not block. What is connected to is a socket itself:
// permission_denied for a symlink, failed_precondition for another file. not_found: nothing is
// there. unavailable: nobody listens (ECONNREFUSED), or those who wait already are too many
// (EAGAIN: another try may succeed). With `owner` permission_denied, too: the file is somebody
// else's by now.
Result<SocketFd> connect_unix(const DirFd& directory, const std::string& name,
                              std::optional<uid_t> owner = std::nullopt);

// Who is at the other end of a unix socket, as the kernel knows it (SO_PEERCRED).
struct PeerCredentials {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};
Result<PeerCredentials> peer_credentials(const SocketFd& socket);

}  // namespace paddock::sys
