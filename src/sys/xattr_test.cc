#include "sys/xattr.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sys/testing/temp_dir.h"

namespace paddock::sys {
namespace {

TEST(Xattr, ComesBackAsItWasSetAndGoes) {
  testing::TempDir tmp;
  DirFd dir = open_dir(tmp.path()).value();
  Xattr binary{"user.b", std::string("\0\xff\n", 3)};
  Xattr empty{"user.a", ""};
  ASSERT_TRUE(set_xattr(dir, binary).ok());
  ASSERT_TRUE(set_xattr(dir, empty).ok());
  EXPECT_THAT(read_xattrs(dir).value(), ::testing::IsSupersetOf({empty, binary}));
  ASSERT_TRUE(remove_xattr(dir, "user.b").ok());
  EXPECT_TRUE(remove_xattr(dir, "user.b").ok()) << "an absent one is success";
  EXPECT_THAT(read_xattrs(dir).value(), ::testing::Not(::testing::Contains(binary)));
}

TEST(Xattr, ANamespaceThatDoesNotExistIsAnError) {
  testing::TempDir tmp;
  DirFd dir = open_dir(tmp.path()).value();
  EXPECT_FALSE(set_xattr(dir, {"nowhere.x", "v"}).ok());
}

}  // namespace
}  // namespace paddock::sys
