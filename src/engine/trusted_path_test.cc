#include "engine/trusted_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

using model::HostPath;

class TrustedPathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* dir : {"/run/app", "/project/sub"})
      ASSERT_TRUE(sys::make_dirs(base_ + dir, 0700).ok());
    ASSERT_TRUE(sys::replace_file(base_ + "/run/app/s", "", 0600).ok());
    ASSERT_TRUE(sys::replace_file(base_ + "/project/s", "", 0600).ok());
  }
  void link(const std::string& target, const std::string& at) {
    ASSERT_EQ(::symlink(target.c_str(), (base_ + at).c_str()), 0);
  }
  Result<HostPath> resolve(const std::string& path) {
    return resolve_outside(base_ + path, {HostPath(base_ + "/project")});
  }
  Code refusal(const std::string& path) {
    auto resolved = resolve(path);
    return resolved.ok() ? Code::internal : resolved.error().code();
  }

  sys::testing::TempDir temp_;
  std::string base_ = sys::real_path(temp_.path()).value();
};

TEST_F(TrustedPathTest, LinksOfTheHostAreFollowed) {
  link("run", "/var-run");
  link("../app/s", "/run/app/alias");
  link(base_ + "/run/app", "/absolute");
  EXPECT_EQ(resolve("/var-run/app/s")->str(), base_ + "/run/app/s");
  EXPECT_EQ(resolve("/var-run/app/alias")->str(), base_ + "/run/app/s");
  EXPECT_EQ(resolve("/absolute/../app/./s")->str(), base_ + "/run/app/s");
}

TEST_F(TrustedPathTest, ALinkOfTheProjectIsNotWhereverItLeads) {
  link(base_ + "/run/app/s", "/project/agent.sock");
  link(base_ + "/run/app", "/project/sub/dir");
  EXPECT_EQ(refusal("/project/agent.sock"), Code::permission_denied);
  EXPECT_EQ(refusal("/project/sub/dir/s"), Code::permission_denied);
  EXPECT_EQ(sys::real_path(base_ + "/project/agent.sock").value(), base_ + "/run/app/s")
      << "without the check it would lead there";
}

TEST_F(TrustedPathTest, ALinkIntoTheProjectIsNoWayAroundIt) {
  link(base_ + "/run/app", "/project/planted");
  link("project", "/mine");
  EXPECT_EQ(refusal("/mine/planted/s"), Code::permission_denied);
  EXPECT_EQ(refusal("/mine/s"), Code::permission_denied);
  link("../project/s", "/run/to-project");
  EXPECT_EQ(refusal("/run/to-project"), Code::permission_denied);
}

// As a bind mount would show it: the same directory under a name that says nothing of it.
TEST_F(TrustedPathTest, AnotherNameOfTheProjectIsTheProject) {
  link("project", "/alias");
  const std::vector<HostPath> by_alias{HostPath(base_ + "/alias")};
  const auto refused = resolve_outside(base_ + "/project/s", by_alias);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::permission_denied);
  EXPECT_TRUE(resolve_outside(base_ + "/run/app/s", by_alias).ok());
}

TEST_F(TrustedPathTest, MissingAndCircularPathsAreErrors) {
  link("loop", "/loop");
  EXPECT_EQ(refusal("/run/nothing"), Code::not_found);
  EXPECT_FALSE(resolve("/loop").ok());
}

}  // namespace
}  // namespace paddock::engine
