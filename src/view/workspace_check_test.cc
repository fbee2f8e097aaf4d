#include "view/workspace_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/testing/temp_dir.h"

namespace paddock::view {
namespace {

using model::HostPath;
using ::testing::HasSubstr;

class WorkspaceCheckTest : public ::testing::Test {
 protected:
  WorkspaceCheckTest() {
    root_ = sys::real_path(tmp_.path()).value();
    around_.paddock_home = HostPath("/var/lib/paddock");
  }
  std::string make(const std::string& name) {
    EXPECT_TRUE(sys::make_dirs(root_ + "/" + name, 0755).ok());
    return root_ + "/" + name;
  }

  sys::testing::TempDir tmp_;
  std::string root_;
  Surroundings around_;
};

std::string why(const Status& status) {
  return status.ok() ? "accepted" : const_cast<Status&>(status).error().message();
}

TEST_F(WorkspaceCheckTest, SystemDirectoriesAreRefused) {
  for (const char* path :
       {"/",        "/usr",    "/usr/bin",   "/usr/lib/x/y",   "/etc",  "/etc/nginx", "/var",
        "/var/lib", "/proc/1", "/sys",       "/dev/shm/x",     "/boot", "/bin",       "/lib64",
        "/opt",     "/run",    "/run/user",  "/run/user/1000", "/home", "/home/u",    "/var/home/u",
        "/root",    "/tmp",    "/usr/local", "/usr/local/lib"}) {
    Status status = check_exposure(HostPath(path), around_);
    ASSERT_FALSE(status.ok()) << path;
    EXPECT_EQ(status.error().code(), Code::failed_precondition) << path;
    EXPECT_FALSE(status.error().remedy().empty()) << path;
  }
}

TEST_F(WorkspaceCheckTest, ProjectsBelowThemAreNot) {
  for (const char* path :
       {"/home/u/p", "/var/home/u/p", "/root/p", "/tmp/p", "/srv/p", "/opt/p", "/usr/src/p",
        "/var/lib/jenkins/p", "/run/user/1000/p", "/binary", "/homes/u"}) {
    EXPECT_EQ(why(check_exposure(HostPath(path), around_)), "accepted") << path;
  }
}

TEST_F(WorkspaceCheckTest, AHomeDirectoryAndWhatHoldsOneAreRefusedAndWhatLiesInItIsNot) {
  around_.homes = {"/data/homes/ann"};
  EXPECT_THAT(why(check_exposure(HostPath("/data/homes/ann"), around_)),
              HasSubstr("is a home directory"));
  EXPECT_THAT(why(check_exposure(HostPath("/data/homes"), around_)),
              HasSubstr("holds the home directory"));
  EXPECT_EQ(why(check_exposure(HostPath("/data/homes/ann/p"), around_)), "accepted");
  EXPECT_EQ(why(check_exposure(HostPath("/data/homes/annika"), around_)), "accepted");
}

TEST_F(WorkspaceCheckTest, PaddocksOwnDirectoryIsNeverInsideOrAround) {
  around_.paddock_home = HostPath("/srv/a/paddock");
  EXPECT_THAT(why(check_exposure(HostPath("/srv/a"), around_)),
              HasSubstr("holds Paddock's own directory"));
  EXPECT_THAT(why(check_exposure(HostPath("/srv/a/paddock/x"), around_)),
              HasSubstr("lies in Paddock's own"));
  EXPECT_EQ(why(check_exposure(HostPath("/srv/a/p"), around_)), "accepted");
}

TEST_F(WorkspaceCheckTest, AMountBelowIsNamedAndAMountAtItIsFine) {
  around_.mount_points = {"/", "/srv/p", "/srv/p/data\n"};
  Status status = check_exposure(HostPath("/srv/p"), around_);
  EXPECT_THAT(why(status), HasSubstr("/srv/p/data\\x0a is mounted below it"));
  around_.mount_points.pop_back();
  EXPECT_EQ(why(check_exposure(HostPath("/srv/p"), around_)), "accepted");
}

TEST_F(WorkspaceCheckTest, AMissingDirectoryIsNotFoundAndAFileIsNoWorkspace) {
  auto missing = check_workspace(HostPath(root_ + "/no"), around_);
  EXPECT_EQ(missing.error().code(), Code::not_found);
  EXPECT_THAT(missing.error().remedy(), HasSubstr("--workspace"));
  ASSERT_TRUE(sys::replace_file(root_ + "/file", "", 0644).ok());
  EXPECT_EQ(check_workspace(HostPath(root_ + "/file"), around_).error().code(),
            Code::invalid_argument);
}

TEST_F(WorkspaceCheckTest, AnySpellingEndsAtTheCanonicalPathWithTheLinksThatLeadThere) {
  std::string real = make("var/home/u/p");
  ASSERT_EQ(::symlink("var/home", (root_ + "/home").c_str()), 0);
  ASSERT_EQ(::symlink((root_ + "/home/u/p").c_str(), (root_ + "/current").c_str()), 0);
  make("x");
  Workspace workspace = check_workspace(HostPath(root_ + "/x/../current/."), around_).value();
  EXPECT_EQ(workspace.path.str(), real);
  ASSERT_EQ(workspace.links.size(), 2u);
  EXPECT_EQ(workspace.links[0].at.str(), root_ + "/current");
  EXPECT_EQ(workspace.links[0].target, root_ + "/home/u/p");
  EXPECT_EQ(workspace.links[1].at.str(), root_ + "/home");
  EXPECT_EQ(workspace.links[1].target, "var/home");
}

TEST_F(WorkspaceCheckTest, ARefusedDirectoryIsRefusedThroughALinkToo) {
  ASSERT_EQ(::symlink("/etc", (root_ + "/innocent").c_str()), 0);
  auto checked = check_workspace(HostPath(root_ + "/innocent"), around_);
  EXPECT_EQ(checked.error().code(), Code::failed_precondition);
}

TEST_F(WorkspaceCheckTest, NamesAreBytes) {
  for (const char* name : {"a:b", "a,b", "a\nb",
                           "a\xff"
                           "b",
                           "a b", "a\\b"}) {
    std::string path = make(name);
    auto checked = check_workspace(HostPath(path), around_);
    ASSERT_TRUE(checked.ok()) << path;
    EXPECT_EQ(checked->path.str(), path);
  }
}

TEST_F(WorkspaceCheckTest, LinksThatTurnInCirclesEnd) {
  ASSERT_EQ(::symlink("b", (root_ + "/a").c_str()), 0);
  ASSERT_EQ(::symlink("a", (root_ + "/b").c_str()), 0);
  EXPECT_FALSE(check_workspace(HostPath(root_ + "/a"), around_).ok());
  EXPECT_LE(links_on_path(root_ + "/a").size(), 40u);
}

TEST(HomesInPasswd, AreThoseOfAccountsThatHaveOne) {
  EXPECT_THAT(homes_in_passwd("root:x:0:0:root:/root:/bin/bash\n"
                              "nobody:x:65534:65534::/nonexistent:/sbin/nologin\n"
                              "d:x:1:1:d:/:/bin/sh\n"
                              "cut:x:1\n"
                              "tape:x:7:7::/dev/null:/x\n"
                              "u:x:1000:1000::/data/u:/bin/sh"),
              ::testing::ElementsAre("/data/u", "/root"));
}

TEST(ReadSurroundings, KnowsThisHost) {
  auto around = read_surroundings(HostPath("/nowhere/paddock"), {HostPath("/mine")}).value();
  EXPECT_THAT(around.homes, ::testing::Contains("/root"));
  EXPECT_THAT(around.homes, ::testing::Contains("/mine"));
  EXPECT_THAT(around.mount_points, ::testing::Contains("/proc"));
}

}  // namespace
}  // namespace paddock::view
