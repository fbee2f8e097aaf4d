#include "sys/landlock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "sys/testing/in_child.h"
#include "sys/testing/temp_dir.h"

namespace paddock::sys {
namespace {

using testing::in_child;
using testing::TempDir;

class Landlock : public ::testing::Test {
 protected:
  void SetUp() override {
    if (landlock_abi() == 0) GTEST_SKIP() << "needs landlock: not in this kernel";
    ASSERT_TRUE(replace_file(dir_.path() + "/open", "x", 0644).ok());
    ASSERT_TRUE(make_dir(dir_.path() + "/shut", 0755).ok());
    ASSERT_TRUE(replace_file(dir_.path() + "/shut/file", "x", 0644).ok());
  }

  // What open(2) says in a domain that may only read `allowed`: 0 or an errno.
  int open_inside(const std::string& allowed, const std::string& path, int flags) {
    return in_child([&] {
      auto ruleset = LandlockRuleset::make();
      if (!ruleset.ok() || !ruleset->allow(allowed, PathRights::read).ok()) return 255;
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      if (enter_landlock_domain(ruleset->fd().get()) != 0) return 254;
      return ::open(path.c_str(), flags) >= 0 ? 0 : errno;
    });
  }

  TempDir dir_;
};

TEST_F(Landlock, RefusesWhatNoRuleNames) {
  const std::string shut = dir_.path() + "/shut/file";
  EXPECT_EQ(open_inside(dir_.path() + "/open", shut, O_RDONLY), EACCES);
  EXPECT_EQ(open_inside(dir_.path(), shut, O_RDONLY), 0) << "with a rule it can be read";
}

TEST_F(Landlock, RefusesWritingWhereOnlyReadingIsAllowed) {
  const std::string file = dir_.path() + "/open";
  EXPECT_EQ(open_inside(file, file, O_WRONLY), EACCES);
  EXPECT_EQ(open_inside(file, file, O_RDONLY), 0);
}

TEST_F(Landlock, NeedsNoRuleForAPathThatIsNotThere) {
  auto ruleset = LandlockRuleset::make();
  ASSERT_TRUE(ruleset.ok());
  EXPECT_TRUE(ruleset->allow(dir_.path() + "/absent", PathRights::read).ok());
}

TEST_F(Landlock, KeepsSignalsAndAbstractSocketsInside) {
  if (landlock_abi() < 6) GTEST_SKIP() << "needs landlock-scopes: they come with kernel 6.12";
  const pid_t outside = ::getpid();
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = "paddock-landlock-" + std::to_string(outside);
  std::memcpy(name.sun_path + 1, text.data(), text.size());
  const auto* address = reinterpret_cast<const sockaddr*>(&name);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  ASSERT_EQ(::bind(server, address, size), 0);
  ASSERT_EQ(::listen(server, 1), 0);

  auto reach = [&] {
    if (::kill(outside, 0) != 0) return 1;
    return ::connect(::socket(AF_UNIX, SOCK_STREAM, 0), address, size) == 0 ? 0 : 2;
  };
  EXPECT_EQ(in_child(reach), 0) << "without a domain both can be reached";
  EXPECT_EQ(in_child([&] {
              auto ruleset = LandlockRuleset::make();
              ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
              if (enter_landlock_domain(ruleset->fd().get()) != 0) return 254;
              if (::kill(outside, 0) == 0 || errno != EPERM) return 3;
              return ::connect(::socket(AF_UNIX, SOCK_STREAM, 0), address, size) != 0 ? 0 : 4;
            }),
            0);
  ::close(server);
}

}  // namespace
}  // namespace paddock::sys
