#include "view/apply/apply_expect.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "sys/digest.h"
#include "view/bases/base_keep.h"
#include "view/testing/stack.h"

namespace paddock::view {
namespace {

using testing::file;
using testing::StackOnDisk;

class ApplyExpect : public ::testing::Test {
 protected:
  ApplyExpect()
      : disk_({{"f", file("one")},
               {"g", file("one")},
               {"d", testing::directory()},
               {"l", testing::symlink_to("f")}}),
        dir_(sys::open_dir(disk_.host_dir()).value()) {}

  Expected expect(const std::string& name) { return expected_of(examine(dir_, name).value()); }
  bool match(const std::string& name, const Expected& expected) {
    return matches(dir_, name, expected).value() == Match::yes;
  }
  // Other bytes of the same length, with the times of before: what two writes in one tick look
  // like.
  void rewrite_in_the_same_tick(const std::string& name) {
    struct stat st = sys::lstat_path(disk_.in_host(name)).value();
    testing::write_file(disk_.in_host(name), "two");
    struct timespec times[2] = {st.st_atim, st.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, disk_.in_host(name).c_str(), times, 0), 0);
  }

  StackOnDisk disk_;
  sys::DirFd dir_;
};

TEST_F(ApplyExpect, TheSameObjectMatches) {
  for (const char* name : {"f", "d", "l"}) EXPECT_TRUE(match(name, expect(name))) << name;
  EXPECT_FALSE(match("g", expect("f")));
  EXPECT_FALSE(match("missing", expect("f")));
}

TEST_F(ApplyExpect, ADirectoryMayGetEntries) {
  Expected expected = expect("d");
  testing::write_file(disk_.in_host("d/x"), "x");
  EXPECT_TRUE(match("d", expected));
}

TEST_F(ApplyExpect, TwoVersionsWithTheSameTimesDifferByTheirDigest) {
  Expected expected = expect("f");
  rewrite_in_the_same_tick("f");
  EXPECT_TRUE(match("f", expected)) << "times alone do not tell";
  expected.digest = sys::sha256_hex("one");
  EXPECT_FALSE(match("f", expected));
}

TEST_F(ApplyExpect, AFreshObjectMayShareItsTimesWithTheNext) {
  testing::write_file(disk_.in_host("f"), "new");
  Object object = examine(dir_, "f").value();
  object.mtime_ns = object.ctime_ns = sys::wall_clock_ns();
  EXPECT_TRUE(may_share_times(object));
  object.mtime_ns = object.ctime_ns = sys::wall_clock_ns() - 1'000'000'000;
  EXPECT_FALSE(may_share_times(object));
}

}  // namespace
}  // namespace paddock::view
