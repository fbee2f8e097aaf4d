#include "egress/ssh/host_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "sys/command.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::egress::ssh {
namespace {

TEST(HostKey, IsMadeOnceAndIsOneOfOpenSsh) {
  sys::testing::TempDir dir;
  const std::string place = dir.path() + "/ca";
  const HostKey key = open_host_key(place).value();
  EXPECT_EQ(open_host_key(place)->public_key, key.public_key);
  const std::string file = place + "/ssh_host_ed25519_key";
  EXPECT_EQ(sys::stat_path(file)->st_mode & 0777, 0600u);
  // ssh-keygen reads the private file, and gets the same public key out of it.
  const auto read = sys::run_command({.argv = {"ssh-keygen", "-y", "-f", file},
                                      .environment = {"PATH=/usr/bin:/bin"},
                                      .directory = {},
                                      .input = {},
                                      .input_file = {}});
  if (!read.ok()) GTEST_SKIP() << "needs ssh-keygen";
  EXPECT_EQ(read->exit_code, 0) << read->err;
  EXPECT_TRUE(read->out.starts_with(key.public_key)) << read->out;
}

TEST(HostKey, OneThatOthersCanReadIsRefused) {
  sys::testing::TempDir dir;
  ASSERT_TRUE(open_host_key(dir.path()).ok());
  ASSERT_EQ(chmod((dir.path() + "/ssh_host_ed25519_key").c_str(), 0644), 0);
  EXPECT_EQ(open_host_key(dir.path()).error().code(), Code::failed_precondition);
}

}  // namespace
}  // namespace paddock::egress::ssh
