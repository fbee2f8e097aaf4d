#include "engine/rule_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/egress_setup.h"
#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

using ::testing::HasSubstr;

// A real gate: what the sandbox may resolve after each change is what it answers.
class RuleChangesTest : public ::testing::Test {
 protected:
  void begin() {
    auto compiled = egress::Policy::compile({.lists = {{}}}).value();
    session_ = NetworkSession::begin(network_, id_, {std::move(compiled), nullptr}).value();
    changes_ = std::make_unique<RuleChanges>(RuleChangesParts{
        policy_, {}, {}, egress_setup(wire::Egress::REDIRECT, literals_), *session_});
  }
  Result<std::string> allow(const std::string& host) {
    return changes_->apply({ChangeVerb::allow, host});
  }
  Result<std::string> deny(const std::string& host) {
    return changes_->apply({ChangeVerb::deny, host});
  }
  bool resolves(const std::string& host) { return session_->gate().resolve({id_, host, {}}).ok(); }

  sys::testing::TempDir temp_;
  Network network_{model::HostPath(temp_.path())};
  model::SandboxId id_ = model::SandboxId::from_entropy("12345678");
  policy::Compiled policy_;
  std::vector<model::Cidr> literals_;
  std::unique_ptr<NetworkSession> session_;
  std::unique_ptr<RuleChanges> changes_;
};

TEST_F(RuleChangesTest, TheLastWordAboutAHostCounts) {
  begin();
  EXPECT_FALSE(resolves("a.example"));
  EXPECT_EQ(allow("a.example").value(), "a.example is allowed");
  EXPECT_TRUE(resolves("a.example"));
  EXPECT_EQ(deny("a.example").value(), "a.example is denied");
  EXPECT_FALSE(resolves("a.example"));
  EXPECT_TRUE(allow("a.example").ok());
  EXPECT_TRUE(resolves("a.example"));
  EXPECT_FALSE(resolves("b.example"));
}

TEST_F(RuleChangesTest, ADenialComesBeforeWhatPolicyAllows) {
  policy_.settings.egress.allow = {"a.example", "b.example"};
  begin();
  ASSERT_TRUE(deny("a.example").ok());
  EXPECT_FALSE(resolves("a.example"));
  EXPECT_TRUE(resolves("b.example")) << "what was allowed before still is";
}

TEST_F(RuleChangesTest, ARefusalOfPolicyIsNotUndone) {
  model::EgressRule refusal;
  refusal.hosts = model::TextList{"a.example"};
  refusal.name = "no-a";
  policy_.settings.egress.first = {refusal};
  begin();
  const auto refused = allow("a.example");
  EXPECT_EQ(refused.error().code(), Code::permission_denied) << "nobody is told that it is allowed";
  EXPECT_THAT(refused.error().describe(), HasSubstr("egress:no-a"));
  EXPECT_FALSE(resolves("a.example"));
}

TEST_F(RuleChangesTest, AHostThatItBeganWithIsDeniedAndAllowedAgain) {
  policy_.settings.egress.allow = {"a.example:2525", "b.example"};
  begin();
  ASSERT_TRUE(deny("a.example:2525").ok());
  EXPECT_FALSE(resolves("a.example"));
  const auto again = allow("a.example:2525");
  EXPECT_TRUE(again.ok()) << again.error().describe();
  EXPECT_TRUE(resolves("a.example"));
  EXPECT_TRUE(allow("b.example").ok()) << "which is allowed already";
}

TEST_F(RuleChangesTest, ADenialIsTakenBackByItsOwnWordsAlone) {
  begin();
  ASSERT_TRUE(deny("*.example").ok());
  for (const char* host : {"a.example", "a.example:443", "*.a.example", "a.example:*"}) {
    const auto refused = allow(host);
    EXPECT_EQ(refused.error().code(), Code::permission_denied) << host;
    EXPECT_THAT(refused.error().describe(), HasSubstr("egress:deny:*.example")) << host;
  }
  ASSERT_TRUE(deny("a.b.example:8000-8010").ok());
  EXPECT_FALSE(resolves("a.example"));
  ASSERT_TRUE(deny("b.test:80").ok());
  EXPECT_TRUE(allow("b.test").ok()) << "443 is left";
  EXPECT_FALSE(allow("B.test:80").ok());
}

TEST_F(RuleChangesTest, AddressesThatAreNotPublicAreNeverGiven) {
  literals_ = {model::Cidr::parse("0.0.0.0/0").value(), model::Cidr::parse("::/0").value()};
  begin();
  for (const char* address :
       {"127.0.0.1", "10.0.0.1:80", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]:80",
        "[64:ff9b::a00:1]", "0.0.0.0", "224.0.0.1", "10.0.0.0/8", "0.0.0.0/0"}) {
    EXPECT_FALSE(allow(address).ok()) << address;
  }
  EXPECT_TRUE(allow("11.0.0.7:80").ok());
}

TEST_F(RuleChangesTest, NothingGetsPastTheAdministratorsBound) {
  policy_.bounds["egress.allow"] = {policy::List{"a.example"}, {}};
  begin();
  EXPECT_TRUE(allow("a.example").ok());
  const auto past = allow("b.example");
  EXPECT_EQ(past.error().code(), Code::permission_denied);
  EXPECT_FALSE(resolves("b.example"));
  EXPECT_TRUE(deny("b.example").ok()) << "narrowing is always possible";
}

TEST_F(RuleChangesTest, AnAddressMustBeOneThatTheTableLeadsToTheGate) {
  literals_ = {model::Cidr::parse("11.0.0.0/24").value()};
  begin();
  EXPECT_TRUE(allow("11.0.0.7:80").ok());
  const auto other = allow("12.0.0.7:80");
  EXPECT_EQ(other.error().code(), Code::failed_precondition);
  EXPECT_THAT(other.error().describe(), HasSubstr("fixed when it starts"));
  EXPECT_TRUE(deny("12.0.0.7").ok());
}

TEST_F(RuleChangesTest, WhatIsNoHostChangesNothing) {
  begin();
  ASSERT_TRUE(allow("a.example").ok());
  for (const char* host : {"", "a b", "*.com", "a.example:99999", "a..example"}) {
    EXPECT_FALSE(allow(host).ok()) << host;
    EXPECT_TRUE(resolves("a.example")) << host;
  }
}

TEST_F(RuleChangesTest, EachChangeIsOnRecord) {
  begin();
  ASSERT_TRUE(allow("a.example:8443").ok());
  ASSERT_TRUE(deny("a.example:8443").ok());
  ASSERT_FALSE(allow("*.com").ok());
  const model::NetworkRecord record = session_->end();
  ASSERT_EQ(record.events.size(), 2u);
  EXPECT_EQ(record.events[0].kind, model::EgressEventKind::rule);
  EXPECT_EQ(record.events[0].verdict, model::EgressVerdict::allowed);
  EXPECT_EQ(record.events[1].verdict, model::EgressVerdict::denied);
  EXPECT_EQ(record.events[1].host, "a.example:8443");
}

}  // namespace
}  // namespace paddock::engine
