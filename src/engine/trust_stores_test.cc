#include "engine/trust_stores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

using model::GuestPath;
using model::HostPath;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kPem = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n";

// A root of its own, shown as `/`.
class TrustStoresTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(sys::make_dirs(state_, 0700).ok());
    ASSERT_TRUE(sys::make_dirs(root_, 0755).ok());
    files_.overlays.push_back({GuestPath("/"), {HostPath(root_)}, std::nullopt});
  }
  void put(const std::string& path) {
    ASSERT_TRUE(sys::make_dirs(root_ + path.substr(0, path.find_last_of('/')), 0755).ok());
    ASSERT_TRUE(sys::replace_file(root_ + path, "", 0644).ok());
  }
  std::vector<std::string> shown() const {
    std::vector<std::string> places;
    for (const auto& bind : files_.binds) places.push_back(bind.at.str());
    return places;
  }

  sys::testing::TempDir temp_;
  std::string root_ = temp_.path() + "/root";
  std::string state_ = temp_.path() + "/state";
  model::FileSystem files_;
};

TEST_F(TrustStoresTest, EachJavaOfTheRootIsFound) {
  put("/usr/lib/jvm/java-17/lib/security/cacerts");
  put("/usr/lib/jvm/java-8/jre/lib/security/cacerts");
  put("/etc/ssl/certs/java/cacerts");
  EXPECT_THAT(
      java_stores(root_, files_),
      ElementsAre("/etc/ssl/certs/java/cacerts", "/usr/lib/jvm/java-17/lib/security/cacerts",
                  "/usr/lib/jvm/java-8/jre/lib/security/cacerts"));
}

TEST_F(TrustStoresTest, ALinkOfAnotherRootIsNoPlaceToMountOn) {
  put("/elsewhere");
  ASSERT_TRUE(sys::make_dirs(root_ + "/usr/lib/jvm/j/lib/security", 0755).ok());
  ASSERT_EQ(::symlink("/elsewhere", (root_ + "/usr/lib/jvm/j/lib/security/cacerts").c_str()), 0);
  EXPECT_THAT(java_stores(root_, files_), IsEmpty());
}

TEST_F(TrustStoresTest, NoLinkOnTheWayIsFollowed) {
  put("/usr/lib/jvm/java-17/lib/security/cacerts");
  ASSERT_EQ(::symlink("java-17", (root_ + "/usr/lib/jvm/default").c_str()), 0);
  put("/outside/lib/security/cacerts");
  ASSERT_EQ(::symlink((root_ + "/outside").c_str(), (root_ + "/usr/lib/jvm/bent").c_str()), 0);
  EXPECT_THAT(java_stores(root_, files_), ElementsAre("/usr/lib/jvm/java-17/lib/security/cacerts"));
}

TEST_F(TrustStoresTest, AFileOfTheProjectIsNoStoreOfThisMachine) {
  put("/opt/project/lib/security/cacerts");
  EXPECT_THAT(java_stores(root_, files_), ElementsAre("/opt/project/lib/security/cacerts"));
  files_.overlays.push_back({GuestPath("/opt/project"),
                             {HostPath(root_ + "/opt/project")},
                             model::UpperDirs{HostPath(state_), HostPath(state_)}});
  EXPECT_THAT(java_stores(root_, files_), IsEmpty());
}

TEST_F(TrustStoresTest, WhatTheRootHasNotIsNotShown) {
  ASSERT_TRUE(show_trust({kPem, HostPath(state_), root_}, files_).ok());
  EXPECT_THAT(shown(), ElementsAre("/run/paddock/ca.pem"));
  EXPECT_FALSE(sys::exists(state_ + "/cacerts"));
}

TEST_F(TrustStoresTest, TheBundleAndTheStoreGoWhereProgramsLook) {
  put("/etc/ssl/certs/ca-certificates.crt");
  put("/usr/lib/jvm/j/lib/security/cacerts");
  const auto variables = show_trust({kPem, HostPath(state_), root_}, files_);
  ASSERT_TRUE(variables.ok()) << variables.error().describe();
  EXPECT_EQ(variables->front().second, "/run/paddock/ca.pem");
  EXPECT_THAT(shown(), ElementsAre("/etc/ssl/certs/ca-certificates.crt", "/run/paddock/ca.pem",
                                   "/usr/lib/jvm/j/lib/security/cacerts"));
  EXPECT_EQ(files_.binds[2].source.str(), state_ + "/cacerts");
}

TEST_F(TrustStoresTest, WhatATreeHidesIsNotMountedOn) {
  put("/usr/lib/jvm/j/lib/security/cacerts");
  ASSERT_TRUE(sys::make_dirs(temp_.path() + "/empty", 0755).ok());
  files_.binds.push_back(
      {GuestPath("/usr/lib/jvm/j"), HostPath(temp_.path() + "/empty"), model::Access::read_only});
  EXPECT_THAT(java_stores(root_, files_), IsEmpty());
}

}  // namespace
}  // namespace paddock::engine
