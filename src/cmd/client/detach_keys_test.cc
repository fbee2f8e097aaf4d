#include "cmd/client/detach_keys.h"

#include <gtest/gtest.h>

namespace paddock::cmd {
namespace {

TEST(DetachKeys, OtherKeysAreForTheCommand) {
  DetachKeys keys;
  EXPECT_EQ(keys.pass("ls\x11\n\x03"), "ls\x11\n\x03");
  EXPECT_FALSE(keys.were_typed());
}

TEST(DetachKeys, BothAreForNobodyElseAndNothingFollows) {
  DetachKeys keys;
  EXPECT_EQ(keys.pass("a\x10\x11z"), "a");
  EXPECT_TRUE(keys.were_typed());
  EXPECT_EQ(keys.pass("more"), "");
}

TEST(DetachKeys, MayComeInPieces) {
  DetachKeys keys;
  EXPECT_EQ(keys.pass("\x10"), "");
  EXPECT_EQ(keys.pass("\x11"), "");
  EXPECT_TRUE(keys.were_typed());
}

TEST(DetachKeys, TheFirstAloneReachesTheCommandWithWhatFollowsIt) {
  DetachKeys keys;
  EXPECT_EQ(keys.pass("\x10"), "");
  EXPECT_EQ(keys.pass("x"), "\x10x");
  EXPECT_EQ(keys.pass("\x10\x10y"), "\x10\x10y");
  EXPECT_EQ(keys.pass("\x10\x10\x11"), "\x10");
  EXPECT_TRUE(keys.were_typed());
}

}  // namespace
}  // namespace paddock::cmd
