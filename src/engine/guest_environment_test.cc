#include "engine/guest_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paddock::engine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

const std::map<std::string, std::string> kCaller{{"AWS_SECRET_ACCESS_KEY", "s"},
                                                 {"HOME", "/root"},
                                                 {"LANG", "de_DE.UTF-8"},
                                                 {"LC_TIME", "C"},
                                                 {"PATH", "/evil"},
                                                 {"TERM", "xterm"},
                                                 {"TOKEN", "t"}};

TEST(GuestEnvironment, InheritsTerminalAndLocaleOnly) {
  auto guest = make_guest_environment({}, kCaller, {"PATH=/usr/bin", "HOME=/home/user"});
  EXPECT_THAT(guest.variables, ElementsAre("HOME=/home/user", "LANG=de_DE.UTF-8", "LC_TIME=C",
                                           "PATH=/usr/bin", "TERM=xterm"));
  EXPECT_TRUE(guest.passed.empty());
}

TEST(GuestEnvironment, TakesFurtherVariablesAndStaysSorted) {
  GuestEnvironment guest{.variables = {"B=1", "D=2"}, .passed = {}};
  set_variables(guest, {{"A", "x"}, {"B", "x"}}, Present::kept);
  EXPECT_THAT(guest.variables, ElementsAre("A=x", "B=1", "D=2"));
  set_variables(guest, {{"B", "y"}, {"C", "z"}}, Present::replaced);
  EXPECT_THAT(guest.variables, ElementsAre("A=x", "B=y", "C=z", "D=2"));
}

TEST(GuestEnvironment, PassesWhatIsNamedAndSaysSo) {
  model::Settings settings;
  settings.pass_env = {"TOKEN", "NOT_SET"};
  auto guest = make_guest_environment(settings, kCaller, {});
  EXPECT_THAT(guest.variables, Contains("TOKEN=t"));
  EXPECT_THAT(guest.variables, Not(Contains("AWS_SECRET_ACCESS_KEY=s")));
  EXPECT_THAT(guest.passed, ElementsAre("TOKEN"));
}

TEST(GuestEnvironment, WhatPolicySetsWins) {
  model::Settings settings;
  settings.env = {{"LANG", "C"}, {"PATH", "/only"}};
  auto guest = make_guest_environment(settings, kCaller, {"PATH=/usr/bin"});
  EXPECT_THAT(guest.variables, Contains("LANG=C"));
  EXPECT_THAT(guest.variables, Contains("PATH=/only"));
}

}  // namespace
}  // namespace paddock::engine
