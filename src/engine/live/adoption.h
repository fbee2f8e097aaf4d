// Live sandboxes that an earlier daemon left: those that live are taken over, of the others nothing
// stays.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/agent_resume.h"
#include "engine/engine.h"
#include "engine/live/live_sandbox.h"
#include "engine/sandbox_record.h"

namespace paddock::engine {

// Destroyed, it lets go of the sandbox, which goes on.
struct Adopted {
  Adopted() = default;
  Adopted(Adopted&&) = default;
  Adopted& operator=(Adopted&&) = delete;
  ~Adopted();

  LiveInfo info;  // `paused` as it was, or `creating`, as of one that was just made
  LiveSetup setup;
  NetworkRequest network;  // what is on record of it
  std::shared_ptr<SandboxRecord> record;
  std::unique_ptr<isolation::Backend> backend;  // this and what follows: nothing, if it is asleep
  std::unique_ptr<isolation::Sandbox> sandbox;
  std::unique_ptr<AgentLink> link;  // nullptr: nobody here speaks its agent's protocol
  sys::SocketFd waiting;
  Resumed resumed;
};

// Every sandbox of the catalogue is afterwards among those returned, or gone there with a reason
// and nothing is left of it. Blocks: before anything else runs. For the daemon that has the home to
// itself.
Result<std::vector<Adopted>> adopt_all(const Parts& parts);

}  // namespace paddock::engine
