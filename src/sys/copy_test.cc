#include "sys/copy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::sys {
namespace {

TEST(Copy, KeepsBytesAndHoles) {
  testing::TempDir tmp;
  FileFd from = open_file(tmp.path() + "/from", O_RDWR | O_CREAT, 0600).value();
  ASSERT_TRUE(write_all(from, "head").ok());
  ASSERT_EQ(::pwrite(from.get(), "tail", 4, 4 << 20), 4);
  ASSERT_EQ(::ftruncate(from.get(), 8 << 20), 0);
  FileFd to = open_file(tmp.path() + "/to", O_RDWR | O_CREAT, 0600).value();
  ASSERT_TRUE(copy_contents(from, to).ok());
  struct stat st {};
  ASSERT_EQ(::fstat(to.get(), &st), 0);
  EXPECT_EQ(st.st_size, 8 << 20);
  EXPECT_LT(st.st_blocks, (1 << 20) / 512);
  std::string bytes = read_file(tmp.path() + "/to", 8u << 20).value();
  EXPECT_EQ(bytes.substr(0, 4), "head");
  EXPECT_EQ(bytes.substr(4u << 20, 4), "tail");
  EXPECT_EQ(bytes, read_file(tmp.path() + "/from", 8u << 20).value());
}

TEST(Copy, AnEmptyFileStaysEmpty) {
  testing::TempDir tmp;
  FileFd from = open_file(tmp.path() + "/from", O_RDWR | O_CREAT, 0600).value();
  FileFd to = open_file(tmp.path() + "/to", O_RDWR | O_CREAT, 0600).value();
  ASSERT_TRUE(copy_contents(from, to).ok());
  EXPECT_EQ(read_file(tmp.path() + "/to").value(), "");
}

TEST(Copy, CloningSaysWhenBlocksCannotBeShared) {
  testing::TempDir tmp;
  FileFd from = open_file(tmp.path() + "/from", O_RDWR | O_CREAT, 0600).value();
  ASSERT_TRUE(write_all(from, std::string(5000, 'x')).ok());
  FileFd to = open_file(tmp.path() + "/to", O_RDWR | O_CREAT, 0600).value();
  Result<Cloned> cloned = clone_into(from, to, 4096);
  ASSERT_TRUE(cloned.ok());
  if (*cloned == Cloned::no) return;
  EXPECT_EQ(read_file(tmp.path() + "/to").value().substr(4096), std::string(5000, 'x'));
}

}  // namespace
}  // namespace paddock::sys
