#include "egress/rules/git_match.h"

#include <gtest/gtest.h>

namespace paddock::egress {
namespace {

using model::EgressAction;

TEST(GitMeaning, ARuleGivesFetchingAndPushesToItsRefsAlone) {
  const model::GitConditions agents{.repositories = {{"o/*"}}, .push = {"agent/*"}, .hold = {}};
  auto meaning = [&](GitOperation operation) {
    return git_meaning(agents, operation, EgressAction::allow);
  };
  EXPECT_EQ(meaning({"o/r", GitStep::fetch, {}}), GitMeaning::met);
  EXPECT_EQ(meaning({"x/r", GitStep::fetch, {}}), GitMeaning::not_met);
  EXPECT_EQ(meaning({"o/r/s", GitStep::fetch, {}}), GitMeaning::not_met);
  EXPECT_EQ(meaning({"o/r", GitStep::list_to_push, {}}), GitMeaning::met);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {}}), GitMeaning::needs_refs);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/heads/agent/x"}}}), GitMeaning::met);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/heads/agent/x", "refs/heads/main"}}}),
            GitMeaning::not_met);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/tags/agent/x"}}}), GitMeaning::not_met);
}

TEST(GitMeaning, PushingMustBeNamed) {
  const model::GitConditions read{.repositories = {{"**"}}, .push = {}, .hold = {}};
  EXPECT_EQ(git_meaning(read, {"o/r", GitStep::list_to_push, {}}, EgressAction::allow),
            GitMeaning::not_met);
  EXPECT_EQ(git_meaning(read, {"o/r", GitStep::push, {{"refs/heads/a"}}}, EgressAction::allow),
            GitMeaning::not_met);
}

TEST(GitMeaning, ARefusalOfARefIsMetByAnyPushThatHoldsIt) {
  const model::GitConditions main_branch{.repositories = {}, .push = {"main"}, .hold = {}};
  auto meaning = [&](GitOperation operation) {
    return git_meaning(main_branch, operation, EgressAction::deny);
  };
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/heads/x", "refs/heads/main"}}}),
            GitMeaning::met);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/heads/x"}}}), GitMeaning::not_met);
  EXPECT_EQ(meaning({"o/r", GitStep::fetch, {}}), GitMeaning::not_met);
}

TEST(GitMeaning, WhatIsNotPushedAtOnceMayBeHeld) {
  const model::GitConditions reviewed{.repositories = {}, .push = {"agent/*"}, .hold = {"*"}};
  auto meaning = [&](GitOperation operation) {
    return git_meaning(reviewed, operation, EgressAction::allow);
  };
  EXPECT_EQ(meaning({"o/r", GitStep::list_to_push, {}}), GitMeaning::met);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {}}), GitMeaning::needs_refs);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/heads/agent/x"}}}), GitMeaning::met);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/heads/main"}}}), GitMeaning::held);
  // One ref to be reviewed holds all of them; one that is in neither list refuses all.
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/heads/agent/x", "refs/heads/main"}}}),
            GitMeaning::held);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/heads/main", "refs/tags/v1"}}}),
            GitMeaning::not_met);
}

TEST(GitMeaning, ARefusalOfARepositoryHoldsForItsCapitals) {
  const model::GitConditions secret{.repositories = {{"acme/Secret"}}, .push = {}, .hold = {}};
  EXPECT_EQ(git_meaning(secret, {"ACME/secret", GitStep::fetch, {}}, EgressAction::deny),
            GitMeaning::met);
  EXPECT_EQ(git_meaning(secret, {"ACME/secret", GitStep::fetch, {}}, EgressAction::allow),
            GitMeaning::not_met);
}

}  // namespace
}  // namespace paddock::egress
