// The part of the agent's conformance suite that is about the way out: names and connections are
// carried to the host where Setup says so, and nothing else is.
#pragma once

#include "agent/testing/conformance.h"

namespace paddock::agent::testing {

class EgressConformance : public AgentConformance {
 protected:
  void SetUp() override;
  wire::Setup shared_setup() const override;
  std::string kind() const override { return "Redirect"; }

  // Starts the program and lets its connection out.
  struct Carried {
    uint32_t command = 0;
    wire::ConnectQuery query;
    wire::StreamId stream = 0;
  };
  Carried carry(std::vector<std::string> argv);
  // What a command printed, once it has ended.
  std::string output_of_command(uint32_t command);
};

class ProxyConformance : public EgressConformance {
 protected:
  wire::Setup shared_setup() const override;
  std::string kind() const override { return "Proxy"; }
};

}  // namespace paddock::agent::testing
