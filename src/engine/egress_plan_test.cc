#include "engine/egress_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/network.h"
#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

class EgressPlanTest : public ::testing::Test {
 protected:
  Result<EgressPlan> plan(Learning learning = Learning::no) {
    return make_egress_plan({.settings = settings_,
                             .caller_environment = caller_,
                             .caller_home = model::HostPath(dir_.path()),
                             .workspace = {},
                             .home = model::HostPath(dir_.path()),
                             .learning = learning});
  }
  void give_token() {
    caller_["TOKEN"] = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    model::Credential credential;
    credential.name = "api";
    credential.secret = {model::SecretSource::environment, "TOKEN"};
    credential.hosts = {"api.example"};
    credential.env = "TOKEN";
    settings_.egress.credentials = {credential};
  }

  sys::testing::TempDir dir_;
  model::Settings settings_;
  std::map<std::string, std::string> caller_{{"PATH", "/nonexistent"}};
};

TEST_F(EgressPlanTest, NothingLeavesWithoutAWord) {
  auto made = plan();
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(made->lets_out());
  EXPECT_EQ(made->control.detail, "nothing leaves");
}

TEST_F(EgressPlanTest, AHostByNameNeedsNoAuthority) {
  settings_.egress.allow = {"a.example:22", "192.0.2.1:80"};
  EXPECT_EQ(plan().error().code(), Code::invalid_argument);  // a documentation address
  settings_.egress.allow = {"a.example:22", "9.9.9.9:80"};
  auto made = plan();
  ASSERT_TRUE(made.ok()) << made.error().describe();
  EXPECT_TRUE(made->lets_out());
  EXPECT_FALSE(made->opens_tls);
  ASSERT_EQ(made->literals.size(), 1u);
  EXPECT_EQ(made->literals[0].str(), "9.9.9.9");
  EXPECT_EQ(made->grants.size(), 2u);
}

TEST_F(EgressPlanTest, OfACredentialOnlyThePlaceholderIsInThePlan) {
  give_token();
  settings_.egress.allow = {"api.example"};
  auto made = plan();
  ASSERT_TRUE(made.ok()) << made.error().describe();
  EXPECT_TRUE(made->opens_tls);
  ASSERT_EQ(made->placeholders.size(), 1u);
  EXPECT_EQ(made->placeholders[0].first, "TOKEN");
  EXPECT_THAT(made->placeholders[0].second, AllOf(HasSubstr("ghp_"), Not(caller_["TOKEN"])));
  EXPECT_THAT(made->grants, Each(Not(HasSubstr(caller_["TOKEN"]))));
  // Another sandbox gets another one.
  EXPECT_NE(plan()->placeholders[0].second, made->placeholders[0].second);
}

TEST_F(EgressPlanTest, ACredentialThatCannotBeHadIsAnErrorBeforeTheStart) {
  give_token();
  settings_.egress.allow = {"api.example"};
  caller_.erase("TOKEN");
  EXPECT_EQ(plan().error().code(), Code::failed_precondition);
  // One whose hosts nobody may reach is not read at all.
  settings_.egress.allow = {"other.example"};
  ASSERT_TRUE(plan().ok());
  EXPECT_EQ(plan()->rules.credentials, nullptr);
}

TEST_F(EgressPlanTest, PolicyCannotHandOverWhatAPlaceholderStandsFor) {
  give_token();
  settings_.egress.allow = {"api.example"};
  settings_.pass_env = {"TOKEN"};
  EXPECT_THAT(plan().error().describe(), HasSubstr("env.pass"));
}

TEST_F(EgressPlanTest, ARegistryPresetWithoutToolsIsAnError) {
  settings_.egress.presets = {"package-registries"};
  EXPECT_EQ(plan().error().code(), Code::failed_precondition);
  settings_.egress.registries = {"packages.example"};
  ASSERT_TRUE(plan().ok());
}

TEST_F(EgressPlanTest, LearningLetsThroughWhatNoRuleRefuses) {
  model::EgressRule rule;
  rule.hosts = model::TextList{"bad.example"};
  settings_.egress.rules = {rule};
  auto made = plan(Learning::yes);
  ASSERT_TRUE(made.ok()) << made.error().describe();
  auto answer = [&](const char* name) {
    return made->rules.policy->decide({egress::HostName::parse(name).value(), 443}, {});
  };
  EXPECT_TRUE(answer("any.example").audited);
  EXPECT_EQ(answer("bad.example").answer, egress::Answer::deny);
}

TEST(Network, KeepsWhatEachSandboxAskedAndForgetsIt) {
  sys::testing::TempDir dir;
  Network network{model::HostPath(dir.path())};
  const auto one = model::SandboxId::from_entropy("12345678");
  const auto two = model::SandboxId::from_entropy("87654321");
  model::EgressPolicy nothing{.lists = {{}}};
  auto begin = [&](const model::SandboxId& id) {
    return NetworkSession::begin(network, id, {egress::Policy::compile(nothing).value(), nullptr});
  };
  auto first = begin(one).value();
  auto second = begin(two).value();
  EXPECT_FALSE(first->gate().resolve({one, "a.example", {}}).ok());
  EXPECT_EQ(second->end().events.size(), 0u);
  const model::NetworkRecord record = first->end();
  ASSERT_EQ(record.events.size(), 1u);
  EXPECT_EQ(record.events[0].host, "a.example");
  first.reset();
  EXPECT_EQ(network.gate().value()->resolve({one, "a.example", {}}).error().code(),
            Code::not_found);
}

TEST(Network, TheBundleHoldsTheAuthority) {
  sys::testing::TempDir dir;
  Network network{model::HostPath(dir.path())};
  const std::string bundle = network.trust_bundle().value();
  EXPECT_TRUE(bundle.starts_with(network.gate().value()->authority_pem().value()));
  EXPECT_EQ(bundle.find("PRIVATE KEY"), std::string::npos);
}

}  // namespace
}  // namespace paddock::engine
