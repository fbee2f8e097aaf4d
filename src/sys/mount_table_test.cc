#include "sys/mount_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paddock::sys {
namespace {

TEST(MountTable, PathsComeBackAsTheBytesTheyAre) {
  std::string_view text =
      "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
      "31 22 0:5 / /a\\040b\\012c\\134d rw - tmpfs tmpfs rw\n"
      "no mount\n"
      "32 22 0:6 /sub /x\xff rw shared:1 - ext4 /dev/x rw";
  EXPECT_THAT(parse_mount_points(text), ::testing::ElementsAre("/", "/a b\nc\\d", "/x\xff"));
}

TEST(MountTable, ThisProcessHasARoot) {
  EXPECT_THAT(mount_points().value(), ::testing::Contains("/"));
}

}  // namespace
}  // namespace paddock::sys
