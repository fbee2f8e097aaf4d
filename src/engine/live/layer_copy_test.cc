#include "engine/live/layer_copy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"
#include "sys/xattr.h"

namespace paddock::engine {
namespace {

class LayerCopy : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(sys::make_dirs(upper_, 0755).ok());
    ASSERT_TRUE(sys::make_dir(tmp_.path() + "/to", 0700).ok());
  }
  Status copy() {
    return copy_layer(model::HostPath(tmp_.path() + "/from"), model::HostPath(tmp_.path() + "/to"));
  }
  struct stat at(const std::string& name) {
    return sys::lstat_path(copied_ + "/" + name).value();
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(upper_ + "/" + name) << text;
  }
  std::string read(const std::string& name) { return sys::read_file(copied_ + "/" + name).value(); }

  sys::testing::TempDir tmp_;
  std::string upper_ = tmp_.path() + "/from/home.user/fs";
  std::string copied_ = tmp_.path() + "/to/home.user/fs";
};

TEST_F(LayerCopy, KeepsContentsModesTimesLinksAndWhatOverlaysMark) {
  ASSERT_EQ(::mkdir((upper_ + "/dir").c_str(), 0750), 0);
  write("dir/file", "text");
  ASSERT_EQ(::chmod((upper_ + "/dir/file").c_str(), 0640), 0);
  ASSERT_EQ(::link((upper_ + "/dir/file").c_str(), (upper_ + "/other").c_str()), 0);
  ASSERT_EQ(::symlink("/etc/passwd", (upper_ + "/link").c_str()), 0);
  ASSERT_EQ(::mknod((upper_ + "/gone").c_str(), S_IFCHR, 0), 0);
  ASSERT_EQ(::mkfifo((upper_ + "/fifo").c_str(), 0606), 0);
  ASSERT_EQ(::chmod((upper_ + "/fifo").c_str(), 0606), 0);
  const sys::DirFd dir = sys::open_dir(upper_ + "/dir").value();
  ASSERT_TRUE(sys::set_xattr(dir, {"user.overlay.opaque", "y"}).ok());
  const timespec times[2] = {{1000, 0}, {2000, 5}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (upper_ + "/dir").c_str(), times, 0), 0);

  Status copied = copy();
  ASSERT_TRUE(copied.ok()) << copied.error().describe();
  EXPECT_EQ(read("dir/file"), "text");
  EXPECT_EQ(at("dir/file").st_mode & 07777, 0640u);
  EXPECT_EQ(at("dir").st_mode & 07777, 0750u);
  EXPECT_EQ(at("dir").st_mtim.tv_sec, 2000);
  EXPECT_EQ(at("dir").st_mtim.tv_nsec, 5);
  EXPECT_EQ(at("other").st_ino, at("dir/file").st_ino);
  EXPECT_TRUE(S_ISLNK(at("link").st_mode));
  EXPECT_TRUE(S_ISCHR(at("gone").st_mode));
  EXPECT_EQ(at("gone").st_rdev, 0u);
  EXPECT_EQ(at("fifo").st_mode & 07777, 0606u);
  const sys::DirFd to = sys::open_dir(copied_ + "/dir").value();
  const auto xattrs = sys::read_xattrs(to).value();
  ASSERT_EQ(xattrs.size(), 1u);
  EXPECT_EQ(xattrs[0].name, "user.overlay.opaque");
}

TEST_F(LayerCopy, TakesWhatTheSandboxClosedToItself) {
  write("closed", "secret");
  ASSERT_EQ(::chmod((upper_ + "/closed").c_str(), 0), 0);
  ASSERT_EQ(::mkdir((upper_ + "/locked").c_str(), 0700), 0);
  write("locked/in", "x");
  ASSERT_EQ(::chmod((upper_ + "/locked").c_str(), 0), 0);
  ASSERT_TRUE(copy().ok());
  EXPECT_EQ(at("closed").st_mode & 07777, 0u);
  EXPECT_EQ(at("locked").st_mode & 07777, 0u);
  ASSERT_EQ(::chmod((copied_ + "/locked").c_str(), 0700), 0);
  ASSERT_EQ(::chmod((upper_ + "/locked").c_str(), 0700), 0);
  EXPECT_EQ(read("locked/in"), "x");
}

TEST_F(LayerCopy, AHoleTakesNoSpace) {
  const sys::FileFd file = sys::open_file(upper_ + "/sparse", O_WRONLY | O_CREAT, 0600).value();
  ASSERT_EQ(::ftruncate(file.get(), 64 << 20), 0);
  ASSERT_TRUE(copy().ok());
  EXPECT_EQ(at("sparse").st_size, 64 << 20);
  EXPECT_LT(at("sparse").st_blocks * 512, 1 << 20);
}

}  // namespace
}  // namespace paddock::engine
