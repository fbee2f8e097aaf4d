#include "view/git/git_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/command.h"
#include "sys/testing/temp_dir.h"

namespace paddock::view {
namespace {

using model::HostPath;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GitTreesTest : public ::testing::Test {
 protected:
  GitTreesTest() { root_ = sys::real_path(tmp_.path()).value(); }

  std::string at(const std::string& name) const { return root_ + "/" + name; }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(sys::make_dirs(at(name.substr(0, name.find_last_of('/'))), 0755).ok());
    ASSERT_TRUE(sys::replace_file(at(name), text, 0644).ok());
  }
  void git(const std::string& directory, std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-c", "user.name=t", "-c", "user.email=t@t", "-c",
                                 "protocol.file.allow=always", "-c", "init.defaultBranch=main"});
    auto result = sys::run_command(
        {words, {"PATH=/usr/bin:/bin", "HOME=" + root_}, at(directory), "", 1 << 20});
    ASSERT_TRUE(result.ok());
    ASSERT_EQ(result->exit_code, 0) << result->err;
  }
  void make_repository(const std::string& name) {
    ASSERT_TRUE(sys::make_dirs(at(name), 0755).ok());
    git(name, {"init", "-q"});
    write(name + "/file", "x");
    git(name, {"add", "."});
    git(name, {"commit", "-qm", "one"});
  }
  // What makes a directory look like a git directory.
  void make_git_dir(const std::string& name) {
    write(name + "/HEAD", "ref: refs/heads/main\n");
    ASSERT_TRUE(sys::make_dirs(at(name + "/objects"), 0755).ok());
    ASSERT_TRUE(sys::make_dirs(at(name + "/refs"), 0755).ok());
  }
  GitTrees find(const std::string& name) {
    return find_git_trees(check_workspace(HostPath(at(name)), around_).value(), around_);
  }
  void expect_refused(const std::string& name, const std::string& why) {
    GitTrees trees = find(name);
    EXPECT_THAT(trees.outside, IsEmpty());
    EXPECT_TRUE(trees.git_dir.empty());
    ASSERT_EQ(trees.controls.size(), 1u);
    EXPECT_EQ(trees.controls[0].name, "git");
    EXPECT_EQ(trees.controls[0].state, model::ControlState::refused);
    EXPECT_THAT(trees.controls[0].detail, HasSubstr(why));
  }

  sys::testing::TempDir tmp_;
  std::string root_;
  Surroundings around_{HostPath("/var/lib/paddock"), {}, {}};
};

TEST_F(GitTreesTest, AnOrdinaryRepositoryAndAPlainDirectoryNeedNothingMore) {
  make_repository("repo");
  GitTrees trees = find("repo");
  EXPECT_THAT(trees.outside, IsEmpty());
  EXPECT_THAT(trees.controls, IsEmpty());
  EXPECT_EQ(trees.git_dir.str(), at("repo/.git"));
  ASSERT_TRUE(sys::make_dirs(at("plain"), 0755).ok());
  EXPECT_TRUE(find("plain").git_dir.empty());
}

TEST_F(GitTreesTest, ALinkedWorktreeNeedsItsCommonDirectory) {
  make_repository("repo");
  git("repo", {"worktree", "add", "-q", "../wt", "-b", "b"});
  GitTrees trees = find("wt");
  EXPECT_THAT(trees.outside, ElementsAre(HostPath(at("repo/.git"))));
  EXPECT_EQ(trees.git_dir.str(), at("repo/.git/worktrees/wt"));
  EXPECT_EQ(trees.common_dir.str(), at("repo/.git"));
  EXPECT_THAT(trees.controls, IsEmpty());
}

TEST_F(GitTreesTest, ASubmoduleNeedsItsDirectoryOfTheSuperproject) {
  make_repository("lib");
  make_repository("super");
  git("super", {"submodule", "add", "-q", at("lib"), "sub"});
  GitTrees trees = find("super/sub");
  EXPECT_THAT(trees.outside, ElementsAre(HostPath(at("super/.git/modules/sub"))));
  EXPECT_EQ(trees.git_dir, trees.common_dir);
  EXPECT_THAT(find("super").outside, IsEmpty()) << "inside the superproject it works as it is";
}

TEST_F(GitTreesTest, TheSpellingOfTheGitFileLeadsThereByItsLinks) {
  make_repository("var/repo");
  ASSERT_EQ(::symlink("var", at("link").c_str()), 0);
  git("link/repo", {"worktree", "add", "-q", at("wt")});
  write("wt/.git", "gitdir: " + at("link/repo/.git/worktrees/wt") + "\n");
  GitTrees trees = find("wt");
  EXPECT_THAT(trees.outside, ElementsAre(HostPath(at("var/repo/.git"))));
  ASSERT_EQ(trees.links.size(), 1u);
  EXPECT_EQ(trees.links[0].at.str(), at("link"));
}

TEST_F(GitTreesTest, AGitFileThatNamesSomethingElseOfTheHostShowsNothing) {
  write("secret/key", "k");
  write("ws/.git", "gitdir: ../secret\n");
  expect_refused("ws", "not a git directory");
}

TEST_F(GitTreesTest, AGitFileThatNamesAnothersRepositoryShowsNothing) {
  make_repository("private");
  write("ws/.git", "gitdir: " + at("private/.git"));
  expect_refused("ws", "core.worktree does not name this workspace");
  make_repository("repo");
  git("repo", {"worktree", "add", "-q", "../wt"});
  write("ws/.git", "gitdir: " + at("repo/.git/worktrees/wt"));
  expect_refused("ws", "does not name this workspace as its worktree");
}

// The whole chain is the attacker's own, but for where it ends.
TEST_F(GitTreesTest, APlantedWorktreeDirectoryCannotNameACommonDirectoryOfItsChoice) {
  make_git_dir("secret");
  write("ws/.git", "gitdir: fake\n");
  make_git_dir("ws/fake");
  write("ws/fake/commondir", at("secret"));
  write("ws/fake/gitdir", at("ws/.git"));
  expect_refused("ws", "not below worktrees/");
}

// The workspace's own path may end in worktrees/<name>: then it could pose as its own git
// directory.
TEST_F(GitTreesTest, AWorkspaceThatPosesAsAWorktreeDirectoryDoesNotShowWhatHoldsIt) {
  make_git_dir("home");
  make_git_dir("home/worktrees/ws");
  write("home/worktrees/ws/.git", "gitdir: .\n");
  write("home/worktrees/ws/commondir", "../..\n");
  write("home/worktrees/ws/gitdir", ".git\n");
  expect_refused("home/worktrees/ws", "holds the workspace itself");
}

TEST_F(GitTreesTest, SymlinksInTheGitDirectoryAreNotFollowedToItsProof) {
  make_git_dir("private");
  write("mine/config", "[core]\n\tworktree = " + at("ws") + "\n");
  ASSERT_EQ(::symlink("../mine/config", at("private/config").c_str()), 0);
  write("ws/.git", "gitdir: " + at("private"));
  expect_refused("ws", "does not name this workspace");
}

TEST_F(GitTreesTest, AGitDirectoryThatMayNotBeShownIsNot) {
  make_git_dir("repo");
  write("repo/config", "[core]\n\tworktree = " + at("ws") + "\n");
  write("ws/.git", "gitdir: " + at("repo"));
  EXPECT_THAT(find("ws").outside, ElementsAre(HostPath(at("repo"))));
  around_.homes = {at("repo")};
  expect_refused("ws", "is a home directory");
}

TEST_F(GitTreesTest, OddGitFilesAreReportedAndHarmless) {
  write("ws/.git", "");
  expect_refused("ws", "names no git directory");
  write("ws/.git", "gitdir: /no/such/place");
  expect_refused("ws", "No such file");
  write("ws/.git", std::string(1 << 20, 'x'));
  expect_refused("ws", "more than");
  ASSERT_EQ(::unlink(at("ws/.git").c_str()), 0);
  ASSERT_EQ(::symlink("/etc", at("ws/.git").c_str()), 0);
  expect_refused("ws", "is a link");
}

TEST_F(GitTreesTest, BorrowedObjectsAreNamedAndNotShown) {
  make_repository("repo");
  git(".", {"clone", "-q", "--shared", "repo", "ws"});
  GitTrees trees = find("ws");
  EXPECT_THAT(trees.outside, IsEmpty());
  ASSERT_EQ(trees.controls.size(), 1u);
  EXPECT_THAT(trees.controls[0].detail, HasSubstr("--mount " + at("repo/.git/objects")));
}

}  // namespace
}  // namespace paddock::view
