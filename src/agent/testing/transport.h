// How a conformance test gets a fresh agent.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "base/result.h"
#include "sys/fd.h"
#include "wire/agent.pb.h"

namespace paddock::agent::testing {

// One running sandbox of a few programs: /bin/busybox with links for its applets, /bin/agent-guest
// (tests/agent/agent_guest.cc), /dev with null and ptmx, /proc, /tmp. Destroying it ends it.
class RunningAgent {
 public:
  virtual ~RunningAgent() = default;
  virtual int stream() const = 0;
  // A stream that takes the place of the first one, once the agent is adopted. unsupported: this
  // transport has none.
  virtual Result<sys::SocketFd> connect() {
    return Error(Code::unsupported, "needs a socket to come back by: this transport has none");
  }
  // Whether all of it has gone by itself within `ms`.
  virtual bool wait_gone(int ms) = 0;
};

struct Transport {
  std::string name;
  // unsupported: what this machine lacks; the message is a reason to skip.
  std::function<Result<std::unique_ptr<RunningAgent>>()> start;
  // As whom commands run, and whatever else this transport needs.
  std::function<wire::Setup()> setup;
  // Divides the size of the tests that are all about numbers: an emulated machine is slow.
  int slowness = 1;
};

// A seccomp filter that allows everything but: sethostname is reported and fails with
// ENOTRECOVERABLE, clone3 is refused with ENOSYS as in the real filter.
void add_test_filter(wire::Setup& setup);

// What gtest prints of it.
inline void PrintTo(const Transport& transport, std::ostream* out) {
  *out << transport.name;
}

}  // namespace paddock::agent::testing
