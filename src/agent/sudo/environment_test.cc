#include "agent/sudo/environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace paddock::agent::sudo {
namespace {

const User kRoot{.name = "root", .home = "/root", .shell = "/bin/bash"};

Caller caller() {
  return {{.name = "user", .uid = 1000, .gid = 1000, .home = "/home/user", .shell = "/bin/sh"},
          {"FOO=bar", "TERM=xterm", "LC_ALL=C", "HOME=/home/user", "PATH=/home/user/bin",
           "HTTPS_PROXY=http://127.0.0.53:54", "LD_PRELOAD=/tmp/x.so", "SHELL=/bin/zsh", "odd"}};
}

bool has(const std::vector<std::string>& environment, const std::string& variable) {
  return std::ranges::find(environment, variable) != environment.end();
}

TEST(SudoEnvironment, IsResetButForTerminalsLanguagesAndTheWayOut) {
  const auto environment = environment_of({.command = {"id"}}, caller(), kRoot);
  for (const char* one :
       {"TERM=xterm", "LC_ALL=C", "HTTPS_PROXY=http://127.0.0.53:54", "HOME=/root", "USER=root",
        "LOGNAME=root", "SUDO_USER=user", "SUDO_UID=1000", "SUDO_COMMAND=id",
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}) {
    EXPECT_TRUE(has(environment, one)) << one;
  }
  EXPECT_FALSE(has(environment, "FOO=bar"));
  EXPECT_FALSE(has(environment, "LD_PRELOAD=/tmp/x.so"));
}

TEST(SudoEnvironment, CanBePreservedAndAddedTo) {
  const auto environment = environment_of(
      {.environment = Options::Environment::preserve, .variables = {"NEW=1"}, .command = {"id"}},
      caller(), kRoot);
  for (const char* one : {"FOO=bar", "NEW=1", "HOME=/home/user", "USER=root"}) {
    EXPECT_TRUE(has(environment, one)) << one;
  }
  EXPECT_TRUE(
      has(environment_of({.preserved = {"FOO"}, .command = {"id"}}, caller(), kRoot), "FOO=bar"));
}

TEST(SudoEnvironment, ALoginShellGetsTheCommandAsOneWord) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of({.command = {"ls", "a b"}}, caller(), kRoot), (Words{"ls", "a b"}));
  EXPECT_EQ(words_of({.shell = Options::Shell::login}, caller(), kRoot),
            (Words{"/bin/bash", "-l"}));
  EXPECT_EQ(words_of({.shell = Options::Shell::login, .command = {"ls", "a b;c"}}, caller(), kRoot),
            (Words{"/bin/bash", "-l", "-c", "ls a\\ b\\;c"}));
  EXPECT_EQ(words_of({.shell = Options::Shell::shell}, caller(), kRoot)[0], "/bin/zsh");
}

}  // namespace
}  // namespace paddock::agent::sudo
