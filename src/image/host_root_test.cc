#include "image/host_root.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "sys/testing/temp_dir.h"

namespace paddock::image {
namespace {

using sys::testing::TempDir;

// A machine with tools, a public and a secret file in /etc, and a home.
class HostRootTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* dir :
         {"/usr/bin", "/opt", "/etc/ssl/certs", "/etc/ssl/private", "/home/alice", "/lib64"}) {
      ASSERT_TRUE(sys::make_dirs(machine_ + dir, 0755).ok());
    }
    ASSERT_EQ(::symlink("usr/bin", (machine_ + "/bin").c_str()), 0);
    write("/etc/shadow", "root:secret", 0640);
    write("/etc/ssl/private/key.pem", "secret", 0600);
    write("/etc/ssl/certs/ca.crt", "public", 0644);
    write("/etc/ssl/certs/odd.key", "secret", 0600);
    write("/etc/services", "ssh 22/tcp", 0644);
  }

  void write(const std::string& path, const std::string& text, mode_t mode) {
    ASSERT_TRUE(sys::replace_file(machine_ + path, text, mode).ok());
  }

  std::unique_ptr<ImageStore> images(uid_t uid = 1234) {
    HostRootOptions options;
    options.home = model::HostPath(tmp_.path() + "/state");
    options.uid = uid;
    options.gid = uid;
    options.guest_home = "/home/user";
    options.hostname = "paddock";
    options.machine = model::HostPath(machine_);
    return make_host_images(options);
  }

  std::string etc_of(const Root& root) {
    for (const auto& tree : root.files.overlays) {
      if (tree.at.str() == "/etc") return tree.lowers.at(0).str();
    }
    return "";
  }

  TempDir tmp_;
  std::string machine_ = tmp_.path() + "/machine";
};

TEST_F(HostRootTest, ShowsToolsAndNoHomes) {
  Root root = images()->resolve("host").value();
  std::vector<std::string> shown;
  for (const auto& tree : root.files.overlays) shown.push_back(tree.at.str());
  for (const auto& link : root.files.symlinks) shown.push_back(link.at.str());
  std::sort(shown.begin(), shown.end());
  EXPECT_EQ(shown, (std::vector<std::string>{"/bin", "/etc", "/lib64", "/opt", "/usr"}));
}

TEST_F(HostRootTest, ComposesEtcWithoutWhatNotEverybodyMayRead) {
  std::string etc = etc_of(images()->resolve("host").value());
  EXPECT_EQ(sys::read_file(etc + "/ssl/certs/ca.crt").value(), "public");
  EXPECT_EQ(sys::read_file(etc + "/services").value(), "ssh 22/tcp");
  EXPECT_FALSE(sys::exists(etc + "/shadow"));
  EXPECT_FALSE(sys::exists(etc + "/ssl/private"));
  EXPECT_FALSE(sys::exists(etc + "/ssl/certs/odd.key"));
  EXPECT_NE(sys::read_file(etc + "/passwd").value().find("user:x:1234:1234::/home/user"),
            std::string::npos);
  EXPECT_NE(sys::read_file(etc + "/hosts").value().find("localhost"), std::string::npos);
}

TEST_F(HostRootTest, ReusesEtcUntilASourceChanges) {
  std::string first = etc_of(images()->resolve("host").value());
  EXPECT_EQ(etc_of(images()->resolve("host").value()), first);
  EXPECT_NE(etc_of(images(5)->resolve("host").value()), first) << "another user inside";
  write("/etc/services", "ssh 2222/tcp", 0644);
  std::string second = etc_of(images()->resolve("host").value());
  EXPECT_NE(second, first);
  EXPECT_EQ(sys::read_file(second + "/services").value(), "ssh 2222/tcp");
}

TEST_F(HostRootTest, ADirectoryBecomesTheRootWithOurResolverOnTop) {
  Root root = images()->resolve(machine_).value();
  ASSERT_EQ(root.files.overlays.size(), 1u);
  EXPECT_EQ(root.files.overlays[0].at.str(), "/");
  ASSERT_EQ(root.files.overlays[0].lowers.size(), 2u);
  EXPECT_TRUE(sys::exists(root.files.overlays[0].lowers[0].str() + "/etc/resolv.conf"));
  EXPECT_EQ(root.files.overlays[0].lowers[1].str(), machine_);
}

TEST_F(HostRootTest, RefusesRootDirectoriesThatWouldShowTheHost) {
  for (const std::string& name : {std::string("/"), tmp_.path()}) {
    auto root = images()->resolve(name);
    ASSERT_FALSE(root.ok()) << name;
    EXPECT_FALSE(root.error().remedy().empty());
  }
  EXPECT_EQ(images()->resolve(tmp_.path() + "/none").error().code(), Code::not_found);
  EXPECT_FALSE(images()->resolve(machine_ + "/etc/services").ok());
}

}  // namespace
}  // namespace paddock::image
