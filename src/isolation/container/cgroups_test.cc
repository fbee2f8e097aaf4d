// Finding the host's cgroups, on directories that look like them.
#include "isolation/container/cgroups.h"

#include <gtest/gtest.h>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::isolation::container {
namespace {

using Version = CgroupHost::Version;

class FindCgroups : public ::testing::Test {
 protected:
  void make(const std::string& path) { ASSERT_TRUE(sys::make_dirs(dir_.path() + path, 0755).ok()); }
  void write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(sys::replace_file(dir_.path() + path, text, 0644).ok());
  }
  sys::testing::TempDir dir_;
};

TEST_F(FindCgroups, Version1ControllersAreFoundWhereTheirDirectoriesAreWritable) {
  for (const char* controller : {"/memory", "/pids"}) {
    make(controller);
    write(std::string(controller) + "/cgroup.procs", "");
  }
  CgroupHost host = find_cgroups({dir_.path(), "", true});
  EXPECT_EQ(host.version_of("memory"), Version::v1);
  EXPECT_EQ(host.version_of("pids"), Version::v1);
  EXPECT_EQ(host.version_of("cpu"), Version::none);
  EXPECT_FALSE(host.remedy.empty());
}

TEST_F(FindCgroups, AHostWithoutAnySaysWhatToDo) {
  CgroupHost host = find_cgroups({dir_.path(), "", false});
  EXPECT_EQ(host.version_of("memory"), Version::none);
  EXPECT_FALSE(host.reason.empty());
  EXPECT_FALSE(host.remedy.empty());
}

TEST_F(FindCgroups, AUserGetsTheNearestDelegatedDirectoryAboveItsOwnCgroup) {
  for (const char* path : {"/user", "/user/app", "/user/app/run.scope"}) {
    make(path);
    write(std::string(path) + "/cgroup.procs", "");
    write(std::string(path) + "/cgroup.subtree_control", "");
  }
  write("/user/app/cgroup.subtree_control", "cpu memory pids\n");
  EXPECT_EQ(find_delegated_cgroup(dir_.path(), "/user/app/run.scope"), dir_.path() + "/user/app");
  // Its own cgroup holds processes: it gives no controllers to children.
  EXPECT_EQ(find_delegated_cgroup(dir_.path(), "/user/app"), "");
  write("/user/cgroup.subtree_control", "memory\n");
  EXPECT_EQ(find_delegated_cgroup(dir_.path(), "/user/app"), "") << "both controllers or none";
}

}  // namespace
}  // namespace paddock::isolation::container
