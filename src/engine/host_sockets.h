// Sockets of the host as one sandbox uses them: connections to them, and their record.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/socket_plan.h"
#include "model/egress_event.h"
#include "sys/fd.h"
#include "wire/agent.pb.h"

namespace paddock::engine {

// One connection to a socket of the host, for the record.
struct SocketUse {
  model::EgressEvent event;
  int64_t since_us = 0;
};

// Owns the granted sockets' directories; whoever carries the connections owns these. Connections
// are the caller's: the service at the other end sees Paddock's process and user. `report` is
// called by the one thread that uses this. Descriptors (SCM_RIGHTS) do not cross: bytes alone do.
class HostSockets {
 public:
  using Report = std::function<void(model::EgressEvent)>;

  HostSockets(model::SandboxId sandbox, std::vector<PlannedSocket> sockets, Report report)
      : sandbox_(std::move(sandbox)), sockets_(std::move(sockets)), report_(std::move(report)) {}

  size_t count() const { return sockets_.size(); }

  // A non-blocking connection. Never waits; errno EAGAIN: try again soon. not_found: no socket of
  // that number was given.
  Result<sys::SocketFd> connect(uint32_t number) const;

  // The record of one connection, from when it is asked for to its end.
  SocketUse begin(uint32_t number, const wire::Asker& asker) const;
  void finish(SocketUse use) const;
  void fail(SocketUse use, const Error& why) const;

 private:
  model::SandboxId sandbox_;
  std::vector<PlannedSocket> sockets_;
  Report report_;
};

}  // namespace paddock::engine
