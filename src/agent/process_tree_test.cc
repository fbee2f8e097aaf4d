#include "agent/process_tree.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace paddock::agent {
namespace {

TEST(ProcessTree, ReadsALineOfProc) {
  const ProcessInfo info = parse_process(
      "42 (sh) S 7 42 42 0 -1 4194560 100 200 0 0 11 12 13 14 20 0 1 0 5555 1000000 321 "
      "18446744\n");
  EXPECT_EQ(info.pid, 42);
  EXPECT_EQ(info.parent, 7);
  EXPECT_EQ(info.state, 'S');
  EXPECT_EQ(info.own_ticks[0], 11u);
  EXPECT_EQ(info.own_ticks[1], 12u);
  EXPECT_EQ(info.waited_ticks[0], 13u);
  EXPECT_EQ(info.waited_ticks[1], 14u);
  EXPECT_EQ(info.rss_pages, 321u);
}

TEST(ProcessTree, IsNotFooledByTheNameOfAProcess) {
  const ProcessInfo info =
      parse_process("42 (a) S 1 (x) R 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
  EXPECT_EQ(info.parent, 7);
  EXPECT_EQ(info.state, 'R');
}

TEST(ProcessTree, LineThatIsCutIsNoProcess) {
  EXPECT_EQ(parse_process("").pid, 0);
  EXPECT_EQ(parse_process("42 (sh) S 7 42").pid, 0);
}

TEST(ProcessTree, FindsDescendantsWhereverTheyStand) {
  const std::vector<ProcessInfo> all{{.pid = 5, .parent = 9, .state = 'S'},
                                     {.pid = 9, .parent = 2, .state = 'R'},
                                     {.pid = 2, .parent = 1, .state = 'S'},
                                     {.pid = 3, .parent = 1, .state = 'S'},
                                     {.pid = 6, .parent = 2, .state = 'Z'}};
  EXPECT_EQ(descendants_of(2, all), (std::vector<pid_t>{9, 5}));
  EXPECT_TRUE(descendants_of(3, all).empty());
}

TEST(ProcessTree, SurvivesALoopInASnapshotThatIsNotAtomic) {
  const std::vector<ProcessInfo> all{{.pid = 5, .parent = 9, .state = 'S'},
                                     {.pid = 9, .parent = 5, .state = 'S'}};
  EXPECT_LE(descendants_of(5, all).size(), 4u);
}

TEST(ProcessTree, ListsThisProcess) {
  const auto all = list_processes();
  const auto self = std::ranges::find(all, ::getpid(), &ProcessInfo::pid);
  ASSERT_NE(self, all.end());
  EXPECT_EQ(self->parent, ::getppid());
  EXPECT_GT(self->rss_pages, 0u);
}

}  // namespace
}  // namespace paddock::agent
