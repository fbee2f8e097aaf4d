#include "sys/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/command.h"
#include "sys/testing/temp_dir.h"

namespace paddock::sys {
namespace {

using testing::TempDir;

TEST(Files, OpenBeneathFollowsNoSymlinkAndLeavesNoRoot) {
  TempDir tmp;
  ASSERT_TRUE(make_dirs(tmp.path() + "/root/sub", 0755).ok());
  ASSERT_TRUE(replace_file(tmp.path() + "/secret", "s", 0600).ok());
  ASSERT_EQ(::symlink("../secret", (tmp.path() + "/root/link").c_str()), 0);
  ASSERT_EQ(::symlink("..", (tmp.path() + "/root/up").c_str()), 0);
  DirFd root = open_dir(tmp.path() + "/root").value();
  for (const char* path : {"link", "up/secret", "../secret", "sub/../../secret", "/etc/passwd"}) {
    auto opened = open_beneath(root, path, O_RDONLY);
    ASSERT_FALSE(opened.ok()) << path;
    EXPECT_EQ(opened.error().code(), Code::permission_denied) << path;
  }
  EXPECT_TRUE(open_beneath(root, "sub", O_RDONLY | O_DIRECTORY).ok());
  // The twin: without the guard the same path leads out.
  EXPECT_TRUE(open_file(tmp.path() + "/root/link", O_RDONLY).ok());
}

TEST(Files, RemoveTreeUnlinksSymlinksAndLeavesTheirTargets) {
  TempDir tmp;
  ASSERT_TRUE(make_dirs(tmp.path() + "/keep", 0755).ok());
  ASSERT_TRUE(replace_file(tmp.path() + "/keep/file", "x", 0644).ok());
  ASSERT_TRUE(make_dirs(tmp.path() + "/gone/a/b", 0755).ok());
  ASSERT_EQ(::symlink("../../keep", (tmp.path() + "/gone/a/link").c_str()), 0);
  ASSERT_EQ(::chmod((tmp.path() + "/gone/a/b").c_str(), 0), 0);
  ASSERT_TRUE(remove_tree(tmp.path() + "/gone").ok());
  EXPECT_FALSE(exists(tmp.path() + "/gone"));
  EXPECT_TRUE(exists(tmp.path() + "/keep/file"));
  EXPECT_TRUE(remove_tree(tmp.path() + "/gone").ok()) << "a missing tree is success";
}

TEST(Files, ReadFileBoundsWhatItTakes) {
  TempDir tmp;
  ASSERT_TRUE(replace_file(tmp.path() + "/f", std::string(100, 'x'), 0644).ok());
  EXPECT_EQ(read_file(tmp.path() + "/f", 100).value().size(), 100u);
  EXPECT_EQ(read_file(tmp.path() + "/f", 99).error().code(), Code::resource_exhausted);
}

TEST(Command, CollectsBothStreamsAndTheExitCode) {
  Command command{
      {"sh", "-c", "cat; echo err >&2; exit 7"}, {"PATH=/usr/bin:/bin"}, "/", "in", 1024};
  CommandResult result = run_command(command).value();
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.out, "in");
  EXPECT_EQ(result.err, "err\n");
}

TEST(Command, AFileStandsForTheInput) {
  TempDir tmp;
  ASSERT_TRUE(replace_file(tmp.path() + "/in", "from a file", 0600).ok());
  Command command{{"cat"}, {"PATH=/usr/bin:/bin"}, "", "", 1024, tmp.path() + "/in"};
  EXPECT_EQ(run_command(command).value().out, "from a file");
  command.input_file += "-missing";
  EXPECT_EQ(run_command(command).error().code(), Code::not_found);
}

TEST(Command, AProgramThatIgnoresItsInputDoesNotEndUs) {
  Command command{{"true"}, {"PATH=/usr/bin:/bin"}, "", std::string(1 << 20, 'x'), 1024};
  EXPECT_EQ(run_command(command).value().exit_code, 0);
}

TEST(Command, AMissingProgramIsNotFound) {
  EXPECT_EQ(run_command({{"no-such-program-here"}, {}, "", "", 1}).error().code(), Code::not_found);
}

}  // namespace
}  // namespace paddock::sys
