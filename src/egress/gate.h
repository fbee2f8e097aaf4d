// The only way out of a sandbox. Not built yet: today every sandbox gets `no egress`, for which the
// agent's constant table and stub resolver suffice and no gate runs. The contract is written so
// that the agent's streams, not sockets of the host, meet the gate: nothing in it assumes a
// container.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "model/ids.h"

namespace paddock::egress {

// A connection that a sandbox asks for, by the name it resolved.
struct Request {
  model::SandboxId sandbox;
  std::string host;  // canonical form
  uint16_t port = 0;
};

// Decides, dials and carries. Thread-safe.
class Gate {
 public:
  virtual ~Gate() = default;
  // permission_denied with the rule that refused, or success when bytes may flow.
  virtual Status open(const Request& request) = 0;
  // Closes every connection of a sandbox that is gone.
  virtual void forget(const model::SandboxId& sandbox) = 0;
};

}  // namespace paddock::egress
