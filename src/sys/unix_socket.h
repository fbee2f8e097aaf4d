// Unix sockets that are named by a directory and a file in it: however long the directory's path
// is.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

// Listens at `name` in `directory`, for its owner alone. already_exists: something is there.
Result<SocketFd> listen_unix(const DirFd& directory, const std::string& name);
// Connects without waiting; the descriptor does not block. not_found: nothing is there.
// unavailable: nobody listens, or those who wait already are too many.
Result<SocketFd> connect_unix(const DirFd& directory, const std::string& name);

}  // namespace paddock::sys
