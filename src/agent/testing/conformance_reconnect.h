// The part of the agent's conformance suite that is about sandboxes that outlive their host, over
// transports that have a socket to come back by.
#pragma once

#include "agent/testing/conformance.h"

namespace paddock::agent::testing {

class AgentReconnect : public AgentLifetime {
 protected:
  // Set up and adopted, to live for that long.
  void adopt(uint64_t deadline_ms = 60'000);
  wire::ToHost ask_to_adopt();
  void lose_host();
  // Takes the place of the host before it, and says Resume.
  std::vector<wire::CommandState> come_back();
  void connect();

  sys::SocketFd stream_;
};

}  // namespace paddock::agent::testing
