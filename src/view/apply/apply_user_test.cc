// Applying as an ordinary user: what root never meets.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "sys/tree_walk.h"
#include "view/changes.h"
#include "view/testing/apply.h"
#include "view/testing/stack.h"

namespace paddock::view {
namespace {

using testing::directory;
using testing::file;
using testing::make_whiteout;
using testing::StackOnDisk;
using testing::Tree;

constexpr uid_t kUser = 65534;

void give_to_user(const std::string& top) {
  ASSERT_EQ(::lchown(top.c_str(), kUser, kUser), 0);
  sys::TreeVisitor visitor;
  visitor.enter = [](const sys::WalkEntry& entry) -> Result<sys::Descend> {
    (void)!::fchownat(entry.parent.get(), entry.name.c_str(), kUser, kUser, AT_SYMLINK_NOFOLLOW);
    return sys::Descend::yes;
  };
  sys::DirFd dir = sys::open_dir(top).value();
  ASSERT_TRUE(sys::walk_tree(dir, visitor).ok());
}

// Results of an apply by the user, or the error.
std::string apply_as_user(const StackOnDisk& disk) {
  std::string out = disk.path("out");
  pid_t pid = ::fork();
  if (pid == 0) {
    if (::setresgid(kUser, kUser, kUser) != 0 || ::setresuid(kUser, kUser, kUser) != 0) ::_exit(1);
    Result<ApplyReport> report = apply_changes(disk.stack, {}, testing::site_of(disk));
    testing::write_file(out,
                        report.ok() ? testing::results_of(*report) : report.error().describe());
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  return sys::read_file(out).value();
}

class ApplyAsUser : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make files of several users";
  }
};

TEST_F(ApplyAsUser, DirectoriesThatTheirOwnerMayNotWriteAreWrittenAllTheSame) {
  StackOnDisk disk({{"ro", directory(0555)},
                    {"ro/edit", file("0", 0444)},
                    {"ro/gone", file("0")},
                    {"all", directory(0555)},
                    {"all/sub", directory(0555)},
                    {"all/sub/f", file("f", 0444)}});
  std::string layer = disk.add_layer({{"ro", directory(0555)},
                                      {"ro/edit", file("1", 0444)},
                                      {"new", directory(0555)},
                                      {"new/f", file("f", 0444)}});
  ASSERT_EQ(::chmod((layer + "/ro").c_str(), 0755), 0);
  make_whiteout(layer + "/ro/gone");
  ASSERT_EQ(::chmod((layer + "/ro").c_str(), 0555), 0);
  make_whiteout(layer + "/all");
  give_to_user(disk.path(""));
  EXPECT_EQ(apply_as_user(disk),
            "all/sub/f applied\nnew/f applied\nro/edit applied\nro/gone applied\n");
  EXPECT_EQ(testing::difference({{"ro", directory(0555)},
                                 {"ro/edit", file("1", 0444)},
                                 {"new", directory(0555)},
                                 {"new/f", file("f", 0444)}},
                                disk.host()),
            "");
  EXPECT_EQ(sys::lstat_path(disk.in_host("new/f")).value().st_uid, kUser);
  EXPECT_EQ(testing::leftovers(disk), "");
}

TEST_F(ApplyAsUser, ADirectoryThatTheHostClosedSinceStopsTheApply) {
  StackOnDisk disk({{"closed", directory(0755)}, {"top", file("0")}});
  disk.add_layer({{"closed", directory(0755)}, {"closed/new", file("1")}, {"top", file("1")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  give_to_user(disk.path(""));
  ASSERT_EQ(::chmod(disk.in_host("closed").c_str(), 0555), 0);
  EXPECT_EQ(apply_as_user(disk), "the host closed directory closed to writing meanwhile");
  EXPECT_EQ(testing::difference({{"closed", directory(0555)}, {"top", file("0")}}, disk.host()),
            "");
  EXPECT_EQ(testing::leftovers(disk), "");
}

TEST_F(ApplyAsUser, AFileOfAnotherUserIsAConflict) {
  StackOnDisk disk({{"mine", file("0")}, {"theirs", file("0")}});
  disk.add_layer({{"mine", file("1")}, {"theirs", file("1")}});
  give_to_user(disk.path(""));
  ASSERT_EQ(::chown(disk.in_host("theirs").c_str(), 0, 0), 0);
  EXPECT_EQ(apply_as_user(disk), "mine applied\ntheirs conflict\n");
  EXPECT_EQ(disk.host()["mine"], file("0"));
}

TEST_F(ApplyAsUser, WhatTheSandboxClosedToItsOwnUserComesAllTheSame) {
  StackOnDisk disk({{"a", file("0")}});
  disk.add_layer({{"a", file("1", 0000)}, {"b", file("b")}});
  give_to_user(disk.path(""));
  EXPECT_EQ(apply_as_user(disk), "a applied\nb applied\n");
  EXPECT_EQ(disk.host()["a"], file("1", 0000));
  EXPECT_TRUE(compute_changes(disk.stack)->changes.empty());
}

TEST_F(ApplyAsUser, ATreeThatMayNotBeWrittenIsAnErrorAndStaysWhole) {
  Tree host{{"d", directory()}, {"d/a", file("0")}, {"e", directory()}, {"e/b", file("0")}};
  StackOnDisk disk(host);
  std::string layer = disk.add_layer({{"d", directory()}, {"d/n", file("1")}, {"e", directory()}});
  make_whiteout(layer + "/e/b");
  give_to_user(disk.path(""));
  ASSERT_EQ(::chown(disk.in_host("d").c_str(), 0, 0), 0);
  std::string said = apply_as_user(disk);
  EXPECT_NE(said.find("d/n"), std::string::npos) << said;
  EXPECT_NE(said.find("Permission denied"), std::string::npos) << said;
  EXPECT_EQ(testing::difference(host, disk.host()), "");
  EXPECT_EQ(testing::leftovers(disk), "");
}

}  // namespace
}  // namespace paddock::view
