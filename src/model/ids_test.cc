#include "model/ids.h"

#include <gtest/gtest.h>

#include "model/level.h"
#include "model/outcome.h"
#include "model/paths.h"

namespace paddock::model {
namespace {

TEST(Ids, AnIdReadsBackAndNothingElseDoes) {
  SandboxId id = SandboxId::from_entropy("12345678");
  EXPECT_EQ(SandboxId::parse(id.str()).value(), id);
  for (std::string_view text : {"", "../../etc/pass", "ABCDEFGHIJKL", "abc", "abcdefghijk/"}) {
    EXPECT_FALSE(SandboxId::parse(text).ok()) << text;
  }
}

TEST(Paths, ContainsStopsAtComponentBoundaries) {
  HostPath root("/a/b");
  EXPECT_TRUE(root.contains(HostPath("/a/b")));
  EXPECT_TRUE(root.contains(HostPath("/a/b/c")));
  EXPECT_FALSE(root.contains(HostPath("/a/bc")));
  EXPECT_TRUE(HostPath("/").contains(root));
}

TEST(Levels, UnreadCodeRequiresAKernelOfItsOwn) {
  EXPECT_EQ(required_level(Trust::reviewed), Level::container);
  EXPECT_EQ(required_level(Trust::generated), Level::microvm);
  EXPECT_EQ(required_level(Trust::hostile), Level::microvm);
}

TEST(Outcomes, ExitStatusFollowsTheShell) {
  Outcome outcome;
  outcome.ending = Ending::signalled;
  outcome.code = 9;
  EXPECT_EQ(exit_status(outcome), 137);
  outcome.ending = Ending::timed_out;
  EXPECT_EQ(exit_status(outcome), 124);
  outcome.ending = Ending::setup_failed;
  EXPECT_EQ(exit_status(outcome), 125);
}

}  // namespace
}  // namespace paddock::model
