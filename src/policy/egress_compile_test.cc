// How rules, presets and credentials of the tiers meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/compile.h"
#include "policy/egress_lists.h"
#include "policy/explain.h"
#include "policy/testing/policies.h"

namespace paddock::policy {
namespace {

using testing::admin;
using testing::compile_tiers;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::project;
using testing::user;

std::string rule(const std::string& action, const std::string& host) {
  return "[[egress.rule]]\nname = \"" + action + " " + host + "\"\naction = \"" + action +
         "\"\nhosts = [\"" + host + "\"]\n";
}

// Names of the rules of each list.
std::vector<std::vector<std::string>> lists_of(const Compiled& c,
                                               const std::vector<model::EgressRule>& presets = {}) {
  std::vector<std::vector<std::string>> out;
  const model::EgressPolicy policy = egress_lists(c.settings.egress, presets).value();
  for (const auto& list : policy.lists) {
    out.emplace_back();
    for (const auto& entry : list) out.back().push_back(entry.name);
  }
  return out;
}

Error egress_error_of(std::vector<Tier> tiers, std::vector<FlagValue> flags = {}) {
  auto result = compile_tiers(std::move(tiers), std::move(flags));
  return result.ok() ? Error(Code::internal, "no error") : result.error();
}

TEST(EgressPolicy, NothingLeavesByDefault) {
  auto c = compile_tiers({});
  ASSERT_TRUE(c.ok());
  EXPECT_TRUE(c->settings.egress.allows_nothing());
  EXPECT_THAT(lists_of(*c), ElementsAre(IsEmpty()));
}

TEST(EgressPolicy, NoEmptySpellingOfAListAllowsAnything) {
  for (const char* text : {"[egress]", "[egress]\nallow = []", "[egress]\npresets = []",
                           "[egress]\nrule = []", "[egress]\npresets = [\"none\"]"}) {
    auto c = compile_tiers({user(text)});
    ASSERT_TRUE(c.ok()) << text << c.error().describe();
    EXPECT_TRUE(c->settings.egress.allows_nothing()) << text;
  }
  for (const char* text : {"[egress]\nallow = \"\"", "[egress]\nallow = [\"\"]",
                           "[egress]\nallow = [\" \"]", "[egress]\npresets = \"open\""}) {
    EXPECT_EQ(egress_error_of({user(text)}).code(), Code::invalid_argument) << text;
  }
}

TEST(EgressPolicy, TheAdministratorIsAskedFirstAndTheProjectsRefusalsBefore) {
  auto c = compile_tiers({admin(rule("deny", "bad.example")), user(rule("allow", "a.example")),
                          project(rule("deny", "b.example"))},
                         {{"egress.allow", "bad.example"}});
  ASSERT_TRUE(c.ok()) << c.error().describe();
  EXPECT_THAT(lists_of(*c), ElementsAre(ElementsAre("deny b.example", "deny bad.example",
                                                    "bad.example", "allow a.example")));
  EXPECT_EQ(c->settings.egress.first[1].authority, model::EgressAuthority::admin);
  EXPECT_EQ(c->settings.egress.rules[0].authority, model::EgressAuthority::ordinary);
}

TEST(EgressPolicy, AProjectGrantsNothingThatOthersDoNot) {
  auto c =
      compile_tiers({user(rule("allow", "a.example")), project(rule("allow", "evil.example"))});
  ASSERT_TRUE(c.ok());
  EXPECT_THAT(lists_of(*c),
              ElementsAre(ElementsAre("allow a.example"), ElementsAre("allow evil.example")));
  auto alone = compile_tiers({project(rule("allow", "evil.example"))});
  ASSERT_TRUE(alone.ok());
  EXPECT_TRUE(alone->settings.egress.allows_nothing());
  EXPECT_THAT(lists_of(*alone), ElementsAre(IsEmpty(), ElementsAre("allow evil.example")));
}

TEST(EgressPolicy, WhatTheUserGivesByNameStandsBesideAProjectsList) {
  auto c = compile_tiers({project(rule("allow", "a.example"))}, {{"egress.allow", "b.example"}});
  ASSERT_TRUE(c.ok());
  EXPECT_THAT(lists_of(*c),
              ElementsAre(ElementsAre("b.example"), ElementsAre("b.example", "allow a.example")));
}

constexpr const char* kCredential =
    "[[credential]]\nname = \"x\"\nfrom = \"env:X\"\nhosts = [\"a.example\"]\n";

TEST(EgressPolicy, AProjectNamesNoCredential) {
  EXPECT_EQ(egress_error_of({project(kCredential)}).code(), Code::permission_denied);
  auto c = compile_tiers({user(kCredential)});  // the twin
  ASSERT_TRUE(c.ok()) << c.error().describe();
  EXPECT_EQ(c->settings.egress.credentials.at(0).origin, "user policy /home/u/user.toml:2");
}

TEST(EgressPolicy, NoneOnTheCommandLineClosesWhatFilesOpen) {
  auto c =
      compile_tiers({user(rule("allow", "a.example") + kCredential)}, {{"egress.presets", "none"}});
  ASSERT_TRUE(c.ok()) << c.error().describe();
  EXPECT_TRUE(c->settings.egress.allows_nothing());
  EXPECT_TRUE(c->settings.egress.credentials.empty());
  for (const char* key : {"egress.allow", "egress.presets"}) {
    const char* other = key == std::string("egress.allow") ? "a.example" : "open";
    EXPECT_EQ(egress_error_of({}, {{"egress.presets", "none"}, {key, other}}).code(),
              Code::invalid_argument);
  }
}

TEST(EgressPolicy, HostileCodeGetsNone) {
  Error error = egress_error_of({user(rule("allow", "a.example"))}, {{"trust", "hostile"}});
  EXPECT_EQ(error.code(), Code::permission_denied);
  EXPECT_EQ(error.remedy(), "--egress none");
  EXPECT_TRUE(compile_tiers({}, {{"trust", "hostile"}}).ok());
}

TEST(EgressPolicy, AMistakeIsNamedWithItsPlaceAndTheNearestKey) {
  Error error =
      egress_error_of({user("[[egress.rule]]\naction = \"allow\"\nhots = [\"a.example\"]\n")});
  EXPECT_THAT(error.describe(), HasSubstr("/home/u/user.toml"));
  EXPECT_THAT(error.remedy(), HasSubstr("hosts"));
  EXPECT_THAT(egress_error_of({user("[egress]\nrules = []\n")}).remedy(), HasSubstr("egress.rule"));
}

TEST(EgressPolicy, RulesAndCredentialsAreExplainedWithoutSecrets) {
  auto c = compile_tiers({user(rule("allow", "a.example") + kCredential)});
  ASSERT_TRUE(c.ok());
  const auto rows = explain_egress(*c);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].key, "egress.rule.allow a.example");
  EXPECT_EQ(rows[0].value, "allow a.example");
  EXPECT_EQ(rows[1].value, "header from environment for a.example");
}

}  // namespace
}  // namespace paddock::policy
