// The agent's conformance suite: what every sandbox can rely on, whatever carries the stream. A
// test program instantiates it with its transports:
//
//   INSTANTIATE_TEST_SUITE_P(Namespaces, AgentConformance, Values(transport), name_of_transport);
//   INSTANTIATE_TEST_SUITE_P(Namespaces, AgentLifetime, Values(transport), name_of_transport);
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "agent/testing/transport.h"
#include "wire/testing/agent_client.h"

namespace paddock::agent::testing {

std::string name_of_transport(const ::testing::TestParamInfo<Transport>& info);

// An agent of its own for each test.
class AgentLifetime : public ::testing::TestWithParam<Transport> {
 protected:
  void SetUp() override;
  wire::Evidence set_up(const wire::Setup& setup);
  wire::Setup default_setup() const;

  std::unique_ptr<RunningAgent> agent_;
  std::unique_ptr<wire::testing::AgentClient> client_;
};

using Clock = std::chrono::steady_clock;
int64_t ms_since(Clock::time_point start);

// One agent for all tests of a transport, which leave it as they found it.
class AgentConformance : public ::testing::TestWithParam<Transport> {
 protected:
  static void TearDownTestSuite();
  void SetUp() override;
  wire::testing::AgentClient& client();
  const wire::Evidence& evidence();
  // Runs and requires that it exited with 0.
  std::string output_of(wire::Start start);
  std::string shell_output(const std::string& script);
  // Processes by name, as `ps` inside sees them.
  int count_processes(const std::string& name);
  int64_t at_once() const;
  int scaled(int count) const { return count / GetParam().slowness; }

  // What the shared agent is set up with; one for each kind.
  virtual wire::Setup shared_setup() const;
  virtual std::string kind() const { return {}; }

 private:
  struct Shared;
  static std::map<std::string, std::unique_ptr<Shared>> all_shared_;
  Shared* shared_ = nullptr;
};

}  // namespace paddock::agent::testing
