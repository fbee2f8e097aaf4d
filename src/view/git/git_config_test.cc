#include "view/git/git_config.h"

#include <gtest/gtest.h>

namespace paddock::view {
namespace {

TEST(GitConfig, ReadsTheLastValueOfAKeyInItsSection) {
  constexpr std::string_view kConfig =
      "# worktree = no\n[other]\n\tworktree = no\n[CORE]\n\trepositoryformatversion = 0\n"
      "\tWorkTree = ../a ; comment\n[core \"sub\"]\n worktree = no\n[core]\n\tworktree=\"../b c\" "
      "\n\tbare\n";
  EXPECT_EQ(git_config_value(kConfig, "core", "worktree"), "../b c");
  EXPECT_EQ(git_config_value(kConfig, "core", "bare"), "true");
  EXPECT_EQ(git_config_value(kConfig, "core", "missing"), std::nullopt);
}

TEST(GitConfig, UndoesQuotesEscapesAndContinuations) {
  EXPECT_EQ(git_config_value("[core]worktree = a\\\\b\\\"c\\n\\\nd\r\n", "core", "worktree"),
            "a\\b\"c\nd");
  EXPECT_EQ(git_config_value("[core]\nworktree = \"x # y\"#z", "core", "worktree"), "x # y");
}

TEST(GitConfig, CutTextEndsQuietly) {
  for (std::string_view text : {"", "[", "[core", "[core]", "[core]worktree",
                                "[core]worktree=", "[core]\nx = \"", "[core]\nworktree = a\\"}) {
    (void)git_config_value(text, "core", "worktree");
  }
  EXPECT_EQ(git_config_value("[core]worktree=", "core", "worktree"), "");
}

}  // namespace
}  // namespace paddock::view
