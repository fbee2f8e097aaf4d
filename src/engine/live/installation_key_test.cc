#include "engine/live/installation_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

TEST(InstallationKey, IsMadeOnceAndForItsOwnerAlone) {
  const sys::testing::TempDir dir;
  const model::HostPath home(dir.path());
  const std::string key = installation_key(home).value();
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(installation_key(home).value(), key);
  EXPECT_EQ(sys::lstat_path(dir.path() + "/server.key")->st_mode & 0777, 0600u);
}

TEST(InstallationKey, IsRefusedWhereOthersCouldReadOrChangeIt) {
  const sys::testing::TempDir dir;
  const model::HostPath home(dir.path());
  ASSERT_TRUE(installation_key(home).ok());
  ASSERT_EQ(::chmod((dir.path() + "/server.key").c_str(), 0644), 0);
  EXPECT_EQ(installation_key(home).error().code(), Code::permission_denied);
  ASSERT_TRUE(sys::replace_file(dir.path() + "/server.key", "short", 0600).ok());
  EXPECT_EQ(installation_key(home).error().code(), Code::data_corrupt);
}

}  // namespace
}  // namespace paddock::engine
