// The user's ssh agent, as far as one login may use it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "egress/ssh/agent_protocol.h"
#include "net/event.h"
#include "net/socket_stream.h"
#include "sys/fd.h"

namespace paddock::egress::ssh {

// Stands between an agent and the process that logs in, and lets nothing through but what
// AgentLeave gives: that process reads what a host sends. Used on its loop's thread; close() comes
// before its end.
class AgentDoor {
 public:
  // unavailable: no agent answers at the socket.
  static Result<std::unique_ptr<AgentDoor>> open(net::Loop& loop, const std::string& socket,
                                                 AgentLeave leave);

  // Whoever logs in gets this end. Once.
  sys::Fd take_client_end() { return std::move(client_end_); }
  // From then on nothing is signed.
  void close(net::Task& task);

 private:
  AgentDoor(net::Loop& loop, sys::SocketFd agent, sys::SocketFd client, sys::Fd client_end,
            AgentLeave leave);
  Status serve(net::Task& task);

  net::SocketStream agent_;
  net::SocketStream client_;
  sys::Fd client_end_;
  AgentLeave leave_;
  net::Event served_;
};

// The keys that an agent holds. Blocking, for a few seconds at most. unavailable: none answers.
Result<std::vector<AgentKey>> list_agent_keys(const std::string& socket);

}  // namespace paddock::egress::ssh
