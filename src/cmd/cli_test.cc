#include "cmd/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paddock::cmd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::variant<Invocation, Exit> parse(std::vector<std::string> words) {
  std::vector<char*> argv{const_cast<char*>("paddock")};
  for (std::string& word : words) argv.push_back(word.data());
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

template <typename Args>
Args parse_as(std::vector<std::string> words) {
  auto parsed = parse(std::move(words));
  auto* invocation = std::get_if<Invocation>(&parsed);
  if (invocation == nullptr) {
    ADD_FAILURE() << std::get<Exit>(parsed).err;
    return {};
  }
  return std::get<Args>(*invocation);
}

TEST(Cli, WhatStandsBehindDashesIsTheCommands) {
  auto args = parse_as<RunArgs>({"run", "-q", "--memory", "1G", "--", "sh", "-c", "--", "-q"});
  EXPECT_TRUE(args.quiet);
  EXPECT_THAT(args.command, ElementsAre("sh", "-c", "--", "-q"));
  ASSERT_EQ(args.flags.size(), 1u);
  EXPECT_EQ(args.flags[0].key, "limits.memory");
  EXPECT_EQ(args.flags[0].text, "1G");
}

TEST(Cli, ACommandWithoutDashesKeepsItsOwnOptions) {
  auto args = parse_as<RunArgs>({"run", "--timeout", "5", "ls", "-l"});
  EXPECT_THAT(args.command, ElementsAre("ls", "-l"));
}

TEST(Cli, ListFlagsAreRepeatable) {
  auto args = parse_as<RunArgs>({"run", "--env", "A=1", "--env", "B=2", "--", "true"});
  ASSERT_EQ(args.flags.size(), 2u);
  EXPECT_EQ(args.flags[1].text, "B=2");
}

TEST(Cli, PathsFollowDashes) {
  auto args = parse_as<ApplyArgs>({"apply", "abcd", "--dry-run", "--", "src", "-x"});
  EXPECT_EQ(args.view, "abcd");
  EXPECT_TRUE(args.dry_run);
  EXPECT_THAT(args.paths, ElementsAre("src", "-x"));
}

TEST(Cli, WrongUseOfRunIsOursAndOfOthersIsTwo) {
  EXPECT_EQ(std::get<Exit>(parse({"run", "--no-such", "--", "true"})).status, 125);
  EXPECT_EQ(std::get<Exit>(parse({"diff", "--stat", "--json"})).status, 2);
  EXPECT_EQ(std::get<Exit>(parse({})).status, 2);
  EXPECT_EQ(std::get<Exit>(parse({"discard", ""})).status, 2) << "an unset variable is no default";
}

TEST(Cli, HelpIsAnAnswerAndNamesTheSettings) {
  Exit help = std::get<Exit>(parse({"run", "--help"}));
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("--memory"));
}

}  // namespace
}  // namespace paddock::cmd
