#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strings.h"
#include "sys/command.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"
#include "view/changes.h"
#include "view/git/branch_read.h"

namespace paddock::view {
namespace {

using model::HostPath;
using sys::testing::TempDir;

// A host repository with one commit, and a layer that holds what a second commit inside made.
class BranchBringTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!shell("git init -q -b main host && cd host && echo 1 > a && git add a && git commit -qm "
               "one")) {
      GTEST_SKIP() << "needs git: the host's git makes and checks objects";
    }
    ASSERT_TRUE(
        shell("git clone -q --no-hardlinks host inside && cd inside && echo 2 > a && git commit "
              "-qam two &&"
              "mkdir -p ../layer/refs/heads ../layer/objects && cp .git/refs/heads/main "
              "../layer/refs/heads/ &&"
              "for d in .git/objects/??; do cp -r $d ../layer/objects/; done"));
    git_.host_git_dir = git_.host_common_dir = HostPath(path("host/.git"));
    git_.git_layers = git_.common_layers = {HostPath(path("layer"))};
    git_.scratch = HostPath(path("scratch"));
    ASSERT_TRUE(sys::make_dir(path("scratch"), 0700).ok());
  }

  std::string path(const std::string& name) const { return tmp_.path() + "/" + name; }

  bool shell(const std::string& script) const {
    sys::Command command;
    command.argv = {"sh", "-c", script};
    command.environment = {"PATH=/usr/bin:/bin",   "HOME=" + tmp_.path(),
                           "GIT_AUTHOR_NAME=a",    "GIT_AUTHOR_EMAIL=a@b",
                           "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"};
    command.directory = tmp_.path();
    auto result = sys::run_command(command);
    return result.ok() && result->exit_code == 0;
  }

  TempDir tmp_;
  GitView git_;
};

TEST_F(BranchBringTest, CommitsArriveAsOneNewRefAndNothingElseChanges) {
  auto commit = bring_branch(git_, "agent/one");
  ASSERT_TRUE(commit.ok()) << commit.error().describe();
  EXPECT_TRUE(shell("cd host && test \"$(git rev-parse agent/one)\" = " + *commit));
  EXPECT_TRUE(shell("cd host && git fsck --strict && test \"$(git show agent/one:a)\" = 2"));
  EXPECT_TRUE(
      shell("cd host && test \"$(git rev-parse HEAD)\" = \"$(git rev-parse main)\" && "
            "test \"$(cat a)\" = 1 && test -z \"$(git status --porcelain)\""));
  EXPECT_TRUE(sys::list_dir(sys::open_dir(path("scratch")).value()).value().empty());
}

TEST_F(BranchBringTest, ABranchThatIsThereIsNeverMoved) {
  ASSERT_TRUE(shell("cd host && git branch taken"));
  EXPECT_EQ(bring_branch(git_, "taken").error().code(), Code::already_exists);
  EXPECT_TRUE(shell("cd host && test \"$(git rev-parse taken)\" = \"$(git rev-parse main)\""));
}

TEST_F(BranchBringTest, NamesThatStandInEachOthersWayAreRefusedAsTaken) {
  ASSERT_TRUE(shell("cd host && git branch top && git branch deep/er/one"));
  for (const char* name : {"top/below", "top/be/low", "deep", "deep/er"}) {
    EXPECT_EQ(bring_branch(git_, name).error().code(), Code::already_exists) << name;
  }
  EXPECT_TRUE(bring_branch(git_, "deep/er/two").ok());
}

TEST_F(BranchBringTest, AHeadThatOnlyMovedToACommitOfTheHostBringsNothing) {
  ASSERT_TRUE(
      shell("cd host && git checkout -q -b other && git commit -q --allow-empty -m other && "
            "git checkout -q main && rm ../layer/refs/heads/main && "
            "echo 'ref: refs/heads/other' > ../layer/HEAD"));
  EXPECT_EQ(bring_branch(git_, "x").error().code(), Code::not_found);
}

TEST_F(BranchBringTest, NamesThatAreNoBranchesAreRefused) {
  for (const char* name : {"", "-d", "../up", "a..b", "a b", "x.lock", "a\nb"}) {
    EXPECT_EQ(bring_branch(git_, name).error().code(), Code::invalid_argument) << name;
  }
}

TEST_F(BranchBringTest, AViewWithoutCommitsHasNothingToBring) {
  git_.git_layers.clear();
  git_.common_layers.clear();
  EXPECT_EQ(bring_branch(git_, "x").error().code(), Code::not_found);
}

TEST_F(BranchBringTest, ACommitWithAMissingOrBrokenObjectIsRefusedAndNoRefIsMade) {
  for (const char* damage : {"rm -r layer/objects/$(cd inside; git rev-parse HEAD:a | cut -c1-2)",
                             "for f in layer/objects/*/*; do chmod 644 $f; echo x > $f; done"}) {
    ASSERT_TRUE(shell(damage));
    EXPECT_FALSE(bring_branch(git_, "bad").ok()) << damage;
    EXPECT_FALSE(shell("cd host && git rev-parse --verify -q bad"));
  }
}

TEST_F(BranchBringTest, PlantedHooksConfigurationAndLinksTakeNoPart) {
  ASSERT_TRUE(
      shell("mkdir -p layer/hooks layer/objects/info && "
            "printf '#!/bin/sh\\ntouch " +
            path("ran") +
            "\\n' > layer/hooks/reference-transaction && "
            "chmod 755 layer/hooks/reference-transaction && "
            "printf '[core]\\n\\thooksPath = " +
            path("layer/hooks") +
            "\\n' > layer/config && "
            "echo /etc > layer/objects/info/alternates && "
            "mkdir -p layer/objects/aa && ln -s /etc/passwd layer/objects/aa/" +
            std::string(38, 'b')));
  EXPECT_TRUE(bring_branch(git_, "agent/two").ok());
  EXPECT_FALSE(sys::exists(path("ran")));
  EXPECT_FALSE(sys::exists(path("host/.git/objects/aa")));
}

TEST_F(BranchBringTest, AHeadThatIsALinkOrLeadsAstrayIsRefused) {
  ASSERT_EQ(::symlink("/etc/hostname", path("layer/HEAD").c_str()), 0);
  EXPECT_EQ(bring_branch(git_, "x").error().code(), Code::data_corrupt);
  ASSERT_EQ(::unlink(path("layer/HEAD").c_str()), 0);
  for (const char* head :
       {"ref: ../../etc/passwd\n", "ref: refs/../x\n", "garbage\n", "ref: refs/heads/loop\n"}) {
    ASSERT_TRUE(sys::replace_file(path("layer/HEAD"), head, 0644).ok());
    ASSERT_TRUE(
        sys::replace_file(path("layer/refs/heads/loop"), "ref: refs/heads/loop\n", 0644).ok());
    EXPECT_EQ(bring_branch(git_, "x").error().code(), Code::data_corrupt) << head;
  }
}

TEST_F(BranchBringTest, ReadsThroughLayersAndStopsAtWhiteouts) {
  const std::vector<HostPath> layers{HostPath(path("layer"))};
  const HostPath host(path("host/.git"));
  EXPECT_TRUE(read_shown({layers, host}, "HEAD", 4096).value().has_value()) << "of the host";
  ASSERT_EQ(::mknod(path("layer/HEAD").c_str(), S_IFCHR, 0), 0);
  EXPECT_FALSE(read_shown({layers, host}, "HEAD", 4096).value().has_value()) << "deleted inside";
}

}  // namespace
}  // namespace paddock::view
