#include "view/dir_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/testing/temp_dir.h"
#include "sys/xattr.h"

namespace paddock::view {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::Not;

class DirAttributesTest : public ::testing::Test {
 protected:
  DirAttributesTest() {
    EXPECT_TRUE(sys::make_dirs(tmp_.path() + "/from", 0755).ok());
    EXPECT_TRUE(sys::make_dirs(tmp_.path() + "/to", 0755).ok());
    from_ = sys::open_dir(tmp_.path() + "/from").value();
    to_ = sys::open_dir(tmp_.path() + "/to").value();
  }
  struct stat target() {
    struct stat st {};
    ::fstat(to_.get(), &st);
    return st;
  }

  sys::testing::TempDir tmp_;
  sys::DirFd from_, to_;
};

TEST_F(DirAttributesTest, ModeTimesAndAttributesAreTheHosts) {
  ASSERT_EQ(::fchmod(from_.get(), 01700), 0);
  struct timespec times[2] = {{1000, 5}, {2000, 7}};
  ASSERT_TRUE(sys::set_xattr(from_, {"user.mine", "x"}).ok());
  ASSERT_TRUE(sys::set_xattr(to_, {"user.stale", "y"}).ok());
  ASSERT_EQ(::futimens(from_.get(), times), 0);
  EXPECT_EQ(copy_dir_attributes(from_, to_).value(), OwnerCopy::exact);
  EXPECT_EQ(target().st_mode & 07777, 01700u);
  EXPECT_EQ(target().st_mtim.tv_sec, 2000);
  EXPECT_EQ(target().st_mtim.tv_nsec, 7);
  auto xattrs = sys::read_xattrs(to_).value();
  EXPECT_THAT(xattrs, Contains(sys::Xattr{"user.mine", "x"}));
  EXPECT_THAT(xattrs, Not(Contains(Field(&sys::Xattr::name, "user.stale"))));
}

TEST_F(DirAttributesTest, AHostDirectoryCannotSteerTheOverlay) {
  ASSERT_TRUE(sys::set_xattr(from_, {"user.overlay.opaque", "y"}).ok());
  ASSERT_TRUE(sys::set_xattr(to_, {"user.overlay.impure", "y"}).ok());
  ASSERT_TRUE(copy_dir_attributes(from_, to_).ok());
  auto xattrs = sys::read_xattrs(to_).value();
  EXPECT_THAT(xattrs, Not(Contains(Field(&sys::Xattr::name, "user.overlay.opaque"))));
  EXPECT_THAT(xattrs, Contains(Field(&sys::Xattr::name, "user.overlay.impure")))
      << "it is the overlay's own";
}

TEST_F(DirAttributesTest, RootGivesTheOwnerToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::fchown(from_.get(), 1234, 2345), 0);
  EXPECT_EQ(copy_dir_attributes(from_, to_).value(), OwnerCopy::exact);
  EXPECT_EQ(target().st_uid, 1234u);
  EXPECT_EQ(target().st_gid, 2345u);
}

}  // namespace
}  // namespace paddock::view
