#include "engine/live/builds/build_steps.h"

#include <gtest/gtest.h>

namespace paddock::engine {
namespace {

BuildStep step(StepKind kind, std::vector<std::string> args) {
  BuildStep step{kind, std::move(args), "", BuildStep::Cache::use};
  if (kind == StepKind::copy) step.files_hash = std::string(64, 'a');
  return step;
}

TEST(BuildSteps, WhatClientsSendIsTaken) {
  EXPECT_TRUE(check_step(step(StepKind::run, {"echo hi"})).ok());
  EXPECT_TRUE(check_step(step(StepKind::run, {"echo hi", "root"})).ok());
  EXPECT_TRUE(check_step(step(StepKind::copy, {"f.txt", "/app/", "", ""})).ok());
  EXPECT_TRUE(check_step(step(StepKind::copy, {"./a/*", ".", "user:games", "0640"})).ok());
  EXPECT_TRUE(check_step(step(StepKind::environment, {"A", "b", "C", ""})).ok());
  EXPECT_TRUE(check_step(step(StepKind::directory, {"app"})).ok());
  EXPECT_TRUE(check_step(step(StepKind::user, {"user", "true"})).ok());
}

TEST(BuildSteps, WhatCannotBeIsRefused) {
  for (const BuildStep& wrong :
       {step(StepKind::run, {}), step(StepKind::run, {""}),
        step(StepKind::run, {std::string("a\0b", 3)}), step(StepKind::copy, {"a"}),
        step(StepKind::copy, {"/etc/passwd", "x"}), step(StepKind::copy, {"a/../../b", "x"}),
        step(StepKind::copy, {"a", "x", "-rf", ""}), step(StepKind::copy, {"a", "x", "u:-x", ""}),
        step(StepKind::copy, {"a", "x", "", "u+s"}), step(StepKind::environment, {"A"}),
        step(StepKind::environment, {}), step(StepKind::environment, {"A=B", "c"}),
        step(StepKind::environment, {"1A", "c"}), step(StepKind::directory, {""}),
        step(StepKind::user, {"-x"}), step(StepKind::user, {"a b"}), step(StepKind::user, {""})}) {
    EXPECT_EQ(check_step(wrong).error().code(), Code::invalid_argument) << describe(wrong);
  }
  BuildStep unsent = step(StepKind::copy, {"a", "b"});
  unsent.files_hash = "../../../etc/shadow";
  EXPECT_EQ(check_step(unsent).error().code(), Code::invalid_argument);
  EXPECT_EQ(check_step(step(StepKind::user, {"ann", "true"})).error().code(), Code::unsupported);
}

TEST(BuildSteps, AKeyFollowsFromAllThatCameBeforeAndFromEveryWord) {
  const std::string key = step_key("base", step(StepKind::run, {"a", "b"}));
  EXPECT_EQ(key, step_key("base", step(StepKind::run, {"a", "b"})));
  EXPECT_NE(key, step_key("other", step(StepKind::run, {"a", "b"})));
  EXPECT_NE(key, step_key("base", step(StepKind::run, {"a"})));
  EXPECT_NE(key, step_key("base", step(StepKind::run, {"a\n1:b"})));
  EXPECT_NE(key, step_key("base", step(StepKind::environment, {"a", "b"})));
  BuildStep sent = step(StepKind::copy, {"a", "b"});
  const std::string before = step_key("base", sent);
  sent.files_hash = std::string(64, 'b');
  EXPECT_NE(before, step_key("base", sent));
}

TEST(BuildSteps, TheFixedPartOfAPatternEndsBeforeItsFirstWildcard) {
  EXPECT_EQ(fixed_part("folder/*"), "folder");
  EXPECT_EQ(fixed_part("./a/b.txt"), "a/b.txt");
  EXPECT_EQ(fixed_part("a/{b,c}/d"), "a");
  EXPECT_EQ(fixed_part("a/+(b|c)"), "a");
  EXPECT_EQ(fixed_part("*.txt"), "");
  EXPECT_EQ(fixed_part("."), "");
  EXPECT_EQ(fixed_part("a//b/"), "a/b");
}

}  // namespace
}  // namespace paddock::engine
