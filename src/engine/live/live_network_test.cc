#include "engine/live/live_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

using ::testing::HasSubstr;

model::EgressRule allow_rule(const std::string& host) {
  model::EgressRule rule;
  rule.name = "policy " + host;
  rule.action = model::EgressAction::allow;
  rule.hosts = model::TextList{host};
  return rule;
}

// A real gate, and a policy that lets out a.example, b.example and c.example.
class LiveNetworkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EgressSource source;
    source.policy.lists = {
        {allow_rule("a.example"), allow_rule("b.example"), allow_rule("c.example")}};
    const std::string key = make_sandbox_key();
    const EgressPlan plan = plan_from(source, key).value();
    live_ =
        LiveNetwork::begin({network_, std::make_shared<const EgressSource>(source), key}, id_, plan)
            .value();
  }
  Status say(ChangeVerb verb, const std::string& host) {
    request_.words[host] = verb;
    request_.must_reach = verb == ChangeVerb::allow ? host : "";
    return live_->update(request_);
  }
  bool resolves(const std::string& host) { return live_->gate().resolve({id_, host, {}}).ok(); }

  sys::testing::TempDir temp_;
  Network network_{model::HostPath(temp_.path())};
  model::SandboxId id_ = model::SandboxId::from_entropy("12345678");
  std::unique_ptr<LiveNetwork> live_;
  NetworkRequest request_;
};

TEST_F(LiveNetworkTest, AHostIsDeniedAndAllowedAgain) {
  ASSERT_TRUE(say(ChangeVerb::deny, "a.example").ok());
  EXPECT_FALSE(resolves("a.example"));
  EXPECT_TRUE(resolves("b.example")) << "all else is as it was";
  ASSERT_TRUE(say(ChangeVerb::allow, "a.example").ok());
  EXPECT_TRUE(resolves("a.example"));
}

TEST_F(LiveNetworkTest, WhatPolicyDoesNotLetOutIsNotAllowed) {
  const Status refused = say(ChangeVerb::allow, "evil.example");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(Status(refused).error().code(), Code::permission_denied);
  EXPECT_THAT(Status(refused).error().describe(), HasSubstr("stays refused: no rule allows it"));
  EXPECT_FALSE(resolves("evil.example"));
}

TEST_F(LiveNetworkTest, WhatTheClientClosedIsOpenedByItsWord) {
  request_.narrowing = {allow_rule("a.example")};
  ASSERT_TRUE(live_->update(request_).ok());
  EXPECT_FALSE(resolves("b.example"));
  ASSERT_TRUE(say(ChangeVerb::allow, "b.example").ok());
  EXPECT_TRUE(resolves("b.example"));
  EXPECT_FALSE(resolves("c.example"));
  ASSERT_TRUE(say(ChangeVerb::deny, "a.example").ok());
  EXPECT_FALSE(resolves("a.example"));
}

TEST_F(LiveNetworkTest, ADenialOfMoreHoldsAndNothingChanges) {
  ASSERT_TRUE(say(ChangeVerb::deny, "*.example").ok());
  EXPECT_FALSE(say(ChangeVerb::allow, "a.example").ok());
  EXPECT_FALSE(resolves("a.example"));
}

}  // namespace
}  // namespace paddock::engine
