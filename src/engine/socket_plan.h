// From `sockets` of policy to sockets of the host that a sandbox may connect to. All refusals come
// before anything exists.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/mounts.h"
#include "model/paths.h"
#include "policy/compile.h"
#include "sys/fd.h"

namespace paddock::engine {

// One granted socket. The directory stays open: the name is looked up in it for each connection, so
// that a service may be restarted, and its path cannot be bent meanwhile. Where others may make
// files, too (/tmp), nobody else takes the service's place: it stays its owner's.
struct PlannedSocket {
  model::HostPath path;  // resolved
  sys::DirFd directory;  // O_PATH
  std::string name;      // in it
  uid_t owner = 0;       // of the socket
  model::GuestPath inside;
};

struct SocketRequest {
  const policy::Compiled& policy;
  std::vector<model::HostPath> untrusted;  // trees whose content is not the caller's word
};

// permission_denied: a path that leads through a tree that is not trusted, or out of a bound.
// not_found, failed_precondition: it is not there, or no socket.
Result<std::vector<PlannedSocket>> plan_sockets(const SocketRequest& request);

// Links from where programs look for the sockets to where the agent listens. permission_denied: the
// place lies in a tree of the host or of a view, which a link would be written to.
Status add_socket_links(const std::vector<PlannedSocket>& sockets, model::FileSystem& files);

// Where the caller's ssh agent is found inside; nullopt: it is not one of `sockets`.
std::optional<std::string> ssh_agent_inside(const std::vector<PlannedSocket>& sockets,
                                            const std::map<std::string, std::string>& caller);

}  // namespace paddock::engine
