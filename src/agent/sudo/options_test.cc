#include "agent/sudo/options.h"

#include <gtest/gtest.h>

namespace paddock::agent::sudo {
namespace {

using Words = std::vector<std::string>;

TEST(SudoOptions, TheFirstWordThatIsNoneBeginsTheCommand) {
  const Options options = parse({"-n", "ls", "-u", "x"}).value();
  EXPECT_EQ(options.command, (Words{"ls", "-u", "x"}));
  EXPECT_EQ(options.user, "root");
  EXPECT_EQ(parse({"--", "-odd"}).value().command, Words{"-odd"});
}

TEST(SudoOptions, ValuesStandInTheSameWordOrTheNext) {
  for (const Words& words :
       {Words{"-u", "www", "id"}, Words{"-uwww", "id"}, Words{"-nu", "www", "id"},
        Words{"--user=www", "id"}, Words{"--user", "www", "id"}}) {
    const Options options = parse(words).value();
    EXPECT_EQ(options.user, "www");
    EXPECT_EQ(options.command, Words{"id"});
  }
}

TEST(SudoOptions, VariablesStandBeforeTheCommand) {
  const Options options = parse({"-E", "A=1", "B=", "/opt/x=y", "C=2"}).value();
  EXPECT_EQ(options.variables, (Words{"A=1", "B="}));
  EXPECT_EQ(options.command, (Words{"/opt/x=y", "C=2"}));
  EXPECT_EQ(options.environment, Options::Environment::preserve);
}

TEST(SudoOptions, SomeVariablesCanBePreserved) {
  const Options options = parse({"--preserve-env=A,B", "id"}).value();
  EXPECT_EQ(options.environment, Options::Environment::reset);
  EXPECT_EQ(options.preserved, (Words{"A", "B"}));
}

TEST(SudoOptions, ShellsAndLogins) {
  EXPECT_EQ(parse({"-i"}).value().shell, Options::Shell::login);
  EXPECT_EQ(parse({"-s", "ls"}).value().shell, Options::Shell::shell);
  EXPECT_EQ(parse({"-v"}).value().action, Options::Action::validate);
}

TEST(SudoOptions, WhatWouldChangeTheMeaningIsRefused) {
  for (const Words& words : {Words{"-R", "/", "id"}, Words{"-e", "f"}, Words{"-T", "5", "id"},
                             Words{"-X"}, Words{"--nope"}, Words{"-u"}, Words{"--login=x"}}) {
    EXPECT_EQ(parse(words).error().code(), Code::invalid_argument) << words[0];
  }
}

}  // namespace
}  // namespace paddock::agent::sudo
