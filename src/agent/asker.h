// Which process of the sandbox a connection or a question comes from. For the record only: it is
// found as far as /proc shows it, and a process may hand its socket on.
#pragma once

#include <sys/types.h>

#include <optional>

#include "sys/credentials.h"
#include "sys/socket_diag.h"
#include "wire/agent.pb.h"

namespace paddock::agent {

// Remembers who asked last, since whoever did mostly asks again. Lives in the agent's loop.
class AskerFinder {
 public:
  // Before the agent is confined. Without it every asker is unknown.
  void open();

  // Whose processes may be looked into beside the agent's own; where they are somebody else's.
  void look_as(const sys::Identity& user) { user_ = user; }

  // The process whose socket sends from `local` to `remote`.
  wire::Asker find(sys::SocketDiag::Protocol protocol, const sys::Endpoint& local,
                   const sys::Endpoint& remote);

 private:
  pid_t find_holder(uint64_t inode) const;

  std::optional<sys::SocketDiag> sockets_;
  std::optional<sys::Identity> user_;
  pid_t last_ = 0;
};

}  // namespace paddock::agent
