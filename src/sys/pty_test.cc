#include "sys/pty.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/testing/in_child.h"

namespace paddock::sys {
namespace {

class Pty : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!exists("/dev/ptmx")) GTEST_SKIP() << "needs ptmx: no /dev/ptmx";
  }
};

TEST_F(Pty, HasTheSizeItWasMadeWithAndThenAnother) {
  auto pair = open_pty({.rows = 33, .columns = 101});
  ASSERT_TRUE(pair.ok()) << pair.error().describe();
  EXPECT_EQ(window_size(pair->slave.get())->rows, 33u);
  EXPECT_EQ(window_size(pair->slave.get())->columns, 101u);
  ASSERT_TRUE(resize_pty(pair->master, {.rows = 7, .columns = 9}).ok());
  EXPECT_EQ(window_size(pair->slave.get())->rows, 7u);
}

TEST_F(Pty, BecomesTheControllingTerminalOfANewSession) {
  auto pair = open_pty({});
  ASSERT_TRUE(pair.ok());
  EXPECT_EQ(testing::in_child([&] {
              ::dup2(pair->slave.get(), STDIN_FILENO);
              if (begin_terminal_session() != 0) return 1;
              return ::tcgetpgrp(STDIN_FILENO) == ::getpid() ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace paddock::sys
