#include "engine/agent_resume.h"

#include <gtest/gtest.h>

#include "engine/testing/scripted_agent.h"
#include "wire/build_id.h"

namespace paddock::engine {
namespace {

using testing::AgentSide;
using testing::ScriptedSandbox;

void say_hello(AgentSide& agent, std::string protocol, std::string build) {
  wire::ToHost hello;
  hello.mutable_hello()->set_protocol(wire::kProtocolVersion);
  hello.mutable_hello()->set_protocol_id(std::move(protocol));
  hello.mutable_hello()->set_build_id(std::move(build));
  EXPECT_TRUE(agent.channel().send(hello).ok());
  agent.flush();
}

uint64_t take_resume(AgentSide& agent) {
  auto event = agent.next();
  auto* message = event ? std::get_if<wire::ToAgent>(&*event) : nullptr;
  EXPECT_TRUE(message != nullptr && message->has_resume());
  return message == nullptr ? 0 : message->request();
}

TEST(AgentResume, LearnsWhatCommandsThereAreFromAnotherBuildOfTheSameProtocol) {
  ScriptedSandbox sandbox([](AgentSide& agent) {
    say_hello(agent, std::string(wire::protocol_id()), "another build");
    const uint64_t request = take_resume(agent);
    wire::ToHost told;
    told.mutable_command_state()->set_command(4);
    told.mutable_command_state()->set_note("note");
    EXPECT_TRUE(agent.channel().send(told).ok());
    wire::ToHost done;
    done.set_request(request);
    done.mutable_done()->set_last_command(9);
    EXPECT_TRUE(agent.channel().send(done).ok());
    agent.flush();
    agent.next();
  });
  AgentLink link(sandbox.stream());
  const auto resumed = resume_agent(link);
  ASSERT_TRUE(resumed.ok()) << resumed.error().describe();
  ASSERT_EQ(resumed->commands.size(), 1u);
  EXPECT_EQ(resumed->commands[0].note(), "note");
  EXPECT_EQ(resumed->last_command, 9u);
}

TEST(AgentResume, AnotherProtocolIsToldApartAndNothingIsSaid) {
  bool asked = true;
  {
    ScriptedSandbox sandbox([&](AgentSide& agent) {
      say_hello(agent, "another", std::string(wire::build_id()));
      asked = agent.next().has_value();
    });
    AgentLink link(sandbox.stream());
    const auto resumed = resume_agent(link);
    ASSERT_FALSE(resumed.ok());
    EXPECT_EQ(resumed.error().code(), Code::failed_precondition);
    EXPECT_FALSE(resumed.error().remedy().empty());
  }
  EXPECT_FALSE(asked);
}

TEST(AgentResume, OneThatSaysNonsenseIsNoAgent) {
  ScriptedSandbox sandbox([](AgentSide& agent) { agent.inject(std::string(64, '\xff')); });
  AgentLink link(sandbox.stream());
  const auto resumed = resume_agent(link);
  ASSERT_FALSE(resumed.ok());
  EXPECT_NE(resumed.error().code(), Code::failed_precondition);
}

}  // namespace
}  // namespace paddock::engine
