#include "sys/tree_walk.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::sys {
namespace {

using testing::TempDir;

// More levels than descriptors or PATH_MAX allow.
constexpr int kDeep = 1500;

void make_deep(const std::string& path) {
  DirFd dir = open_dir(path).value();
  for (int i = 0; i < kDeep; ++i) {
    ASSERT_EQ(::mkdirat(dir.get(), "deep", 0755), 0);
    dir = open_dir_at(dir, "deep").value();
  }
}

TEST(TreeWalk, VisitsDepthFirstByNameAndFollowsNoLink) {
  TempDir tmp;
  ASSERT_TRUE(make_dirs(tmp.path() + "/b/c", 0755).ok());
  ASSERT_TRUE(make_dirs(tmp.path() + "/skip/x", 0755).ok());
  ASSERT_TRUE(replace_file(tmp.path() + "/b/f", "", 0644).ok());
  ASSERT_TRUE(replace_file(tmp.path() + "/a", "", 0644).ok());
  ASSERT_EQ(::symlink("b", (tmp.path() + "/link").c_str()), 0);
  std::vector<std::string> seen;
  TreeVisitor visitor;
  visitor.enter = [&](const WalkEntry& entry) -> Result<Descend> {
    seen.push_back(entry.path);
    return entry.name == "skip" ? Descend::no : Descend::yes;
  };
  visitor.leave = [&](const WalkEntry& entry) -> Status {
    seen.push_back("/" + entry.path + ":" + entry.name);
    return {};
  };
  ASSERT_TRUE(walk_tree(open_dir(tmp.path()).value(), visitor).ok());
  EXPECT_THAT(seen,
              ::testing::ElementsAre("a", "b", "b/c", "/b/c:c", "b/f", "/b:b", "link", "skip"));
}

TEST(TreeWalk, DepthCostsNeitherDescriptorsNorStack) {
  TempDir tmp;
  make_deep(tmp.path());
  int seen = 0;
  TreeVisitor visitor;
  visitor.enter = [&](const WalkEntry&) -> Result<Descend> {
    ++seen;
    return Descend::yes;
  };
  ASSERT_TRUE(walk_tree(open_dir(tmp.path()).value(), visitor).ok());
  EXPECT_EQ(seen, kDeep);
}

TEST(TreeWalk, AMovedDirectoryEndsTheWalkInsteadOfLeadingOut) {
  TempDir tmp, elsewhere;
  ASSERT_TRUE(make_dirs(tmp.path() + "/a/b", 0755).ok());
  TreeVisitor visitor;
  visitor.enter = [&](const WalkEntry& entry) -> Result<Descend> {
    if (entry.name == "b") ::rename((tmp.path() + "/a").c_str(), (elsewhere.path() + "/a").c_str());
    return Descend::yes;
  };
  EXPECT_EQ(walk_tree(open_dir(tmp.path()).value(), visitor).error().code(),
            Code::failed_precondition);
}

// As an ordinary user: root may open everything.
TEST(TreeWalk, WhatItsOwnerMayNotOpenIsOpenedAndKeepsItsMode) {
  TempDir tmp;
  ASSERT_EQ(::chmod(tmp.path().c_str(), 0777), 0);
  pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(10);
    ::prctl(PR_SET_DUMPABLE, 1);  // as an ordinary user's process is: /proc/self/fd is its own
    if (!make_dirs(tmp.path() + "/a/in", 0755).ok()) ::_exit(11);
    if (!replace_file(tmp.path() + "/f", "x", 0).ok()) ::_exit(12);
    if (::chmod((tmp.path() + "/a").c_str(), 0) != 0) ::_exit(13);
    DirFd root = open_dir(tmp.path()).value();
    std::vector<std::string> seen;
    TreeVisitor visitor;
    visitor.enter = [&](const WalkEntry& entry) -> Result<Descend> {
      seen.push_back(entry.path);
      return Descend::yes;
    };
    if (walk_tree(root, visitor).ok()) ::_exit(14);  // the twin: it is closed indeed
    seen.clear();
    visitor.closed = Closed::open;
    if (!walk_tree(root, visitor).ok() || seen != std::vector<std::string>{"a", "a/in", "f"})
      ::_exit(15);
    if ((lstat_at(root, "a")->st_mode & 07777) != 0) ::_exit(16);
    auto file = open_closed_file_at(root, "f", O_RDONLY);
    if (!file.ok() || read_all(*file).value() != "x") ::_exit(17);
    ::_exit(remove_tree(tmp.path() + "/a").ok() ? 0 : 18);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(RemoveTree, DepthDoesNotKeepATreeOnDisk) {
  TempDir tmp;
  ASSERT_TRUE(make_dir(tmp.path() + "/x", 0755).ok());
  make_deep(tmp.path() + "/x");
  ASSERT_TRUE(remove_tree(tmp.path() + "/x").ok());
  EXPECT_FALSE(exists(tmp.path() + "/x"));
}

TEST(RemoveTree, DirectoriesWithoutPermissionGoToo) {
  TempDir tmp;
  ASSERT_TRUE(make_dirs(tmp.path() + "/x/closed/in", 0755).ok());
  ASSERT_EQ(::chmod((tmp.path() + "/x/closed").c_str(), 0), 0);
  ASSERT_TRUE(remove_tree(tmp.path() + "/x").ok());
  EXPECT_FALSE(exists(tmp.path() + "/x"));
}

}  // namespace
}  // namespace paddock::sys
