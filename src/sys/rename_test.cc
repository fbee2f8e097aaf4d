#include "sys/rename.h"

#include <gtest/gtest.h>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::sys {
namespace {

TEST(Rename, NewNeverReplacesAndExchangeNeedsBoth) {
  testing::TempDir tmp;
  DirFd dir = open_dir(tmp.path()).value();
  ASSERT_TRUE(replace_file(tmp.path() + "/a", "A", 0600).ok());
  ASSERT_TRUE(replace_file(tmp.path() + "/b", "B", 0600).ok());
  EXPECT_EQ(rename_new({dir, "a"}, {dir, "b"}).error().code(), Code::already_exists);
  ASSERT_TRUE(exchange({dir, "a"}, {dir, "b"}).ok());
  EXPECT_EQ(read_file(tmp.path() + "/a").value(), "B");
  EXPECT_EQ(exchange({dir, "a"}, {dir, "c"}).error().code(), Code::not_found);
  ASSERT_TRUE(rename_new({dir, "a"}, {dir, "c"}).ok());
  EXPECT_FALSE(exists(tmp.path() + "/a"));
}

TEST(Rename, AcrossFileSystemsIsUnsupported) {
  testing::TempDir tmp;
  DirFd dir = open_dir(tmp.path()).value();
  Result<DirFd> shm = open_dir("/dev/shm");
  if (!shm.ok()) GTEST_SKIP() << "needs /dev/shm";
  ASSERT_TRUE(replace_file(tmp.path() + "/a", "A", 0600).ok());
  EXPECT_EQ(rename_new({dir, "a"}, {*shm, "paddock-test-a"}).error().code(), Code::unsupported);
}

}  // namespace
}  // namespace paddock::sys
