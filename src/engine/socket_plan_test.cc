#include "engine/socket_plan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/testing/temp_dir.h"
#include "sys/unix_socket.h"

namespace paddock::engine {
namespace {

using model::GuestPath;
using model::HostPath;

class SocketPlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(sys::make_dirs(base_ + "/run", 0700).ok());
    ASSERT_TRUE(sys::make_dirs(base_ + "/project", 0700).ok());
    ASSERT_TRUE(sys::replace_file(base_ + "/run/file", "", 0600).ok());
    listener_ = sys::listen_unix(sys::open_dir(base_ + "/run").value(), "s").value();
  }
  Result<std::vector<PlannedSocket>> plan(const std::string& source,
                                          const std::string& target = "/run/inside") {
    compiled_.settings.sockets = {{base_ + source, target}};
    return plan_sockets({compiled_, {HostPath(base_ + "/project")}});
  }

  sys::testing::TempDir temp_;
  std::string base_ = sys::real_path(temp_.path()).value();
  policy::Compiled compiled_;
  sys::SocketFd listener_;
};

TEST_F(SocketPlanTest, WhatIsConnectedToIsWhatWasNamed) {
  ASSERT_EQ(::symlink("run/s", (base_ + "/alias").c_str()), 0);
  auto planned = plan("/alias");
  ASSERT_TRUE(planned.ok()) << planned.error().describe();
  EXPECT_EQ(planned->front().path.str(), base_ + "/run/s");
  EXPECT_EQ(planned->front().inside.str(), "/run/inside");
  EXPECT_TRUE(sys::connect_unix(planned->front().directory, planned->front().name).ok());
}

TEST_F(SocketPlanTest, OtherFilesAreRefused) {
  EXPECT_EQ(plan("/run/file").error().code(), Code::failed_precondition);
  EXPECT_EQ(plan("/run/nothing").error().code(), Code::not_found);
}

TEST_F(SocketPlanTest, ALinkOfTheProjectIsRefused) {
  ASSERT_EQ(::symlink("../run/s", (base_ + "/project/s").c_str()), 0);
  EXPECT_EQ(plan("/project/s").error().code(), Code::permission_denied);
  EXPECT_TRUE(plan("/run/s").ok());
}

TEST_F(SocketPlanTest, ABoundHoldsForWhereTheNameLeads) {
  ASSERT_EQ(::symlink("run/s", (base_ + "/alias").c_str()), 0);
  compiled_.bounds["sockets"] = {policy::List{base_ + "/alias:" + base_ + "/alias"}, {}};
  EXPECT_EQ(plan("/alias").error().code(), Code::permission_denied);
  compiled_.bounds["sockets"] = {policy::List{base_ + "/run:" + base_ + "/run"}, {}};
  EXPECT_TRUE(plan("/alias").ok());
}

TEST_F(SocketPlanTest, NoLinkIsWrittenIntoATreeOfTheHost) {
  model::FileSystem files;
  files.binds.push_back({GuestPath("/data"), HostPath("/srv"), model::Access::read_write});
  files.overlays.push_back({GuestPath("/tree"),
                            {HostPath("/srv/tree")},
                            model::UpperDirs{HostPath("/u"), HostPath("/w")}});
  for (const char* place : {"/data/s", "/tree/s", "/tree/a/s"}) {
    EXPECT_EQ(add_socket_links(plan("/run/s", place).value(), files).error().code(),
              Code::permission_denied);
  }
  ASSERT_TRUE(add_socket_links(plan("/run/s", "/workshop/s").value(), files).ok());
  EXPECT_EQ(files.symlinks.front().at.str(), "/workshop/s");
  EXPECT_EQ(files.symlinks.front().target, "/run/paddock/sockets/0");
}

TEST_F(SocketPlanTest, TheSshAgentIsFoundOnlyWhenItIsGranted) {
  const auto planned = plan("/run/s").value();
  EXPECT_EQ(ssh_agent_inside(planned, {{"SSH_AUTH_SOCK", base_ + "/run/s"}}), "/run/inside");
  EXPECT_EQ(ssh_agent_inside(planned, {{"SSH_AUTH_SOCK", base_ + "/run/file"}}), std::nullopt);
  EXPECT_EQ(ssh_agent_inside(planned, {{"SSH_AUTH_SOCK", "/nowhere"}}), std::nullopt);
  EXPECT_EQ(ssh_agent_inside(planned, {}), std::nullopt);
}

}  // namespace
}  // namespace paddock::engine
