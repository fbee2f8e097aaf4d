// What a kill at any point of an apply leaves, and what the host's own edits meanwhile do to it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>

#include "sys/fault_point.h"
#include "sys/path_lock.h"
#include "view/changes.h"
#include "view/testing/apply.h"
#include "view/testing/stack.h"

namespace paddock::view {
namespace {

using testing::directory;
using testing::file;
using testing::make_whiteout;
using testing::StackOnDisk;
using testing::symlink_to;
using testing::Tree;
using testing::write_file;

constexpr int kKilled = 99;
constexpr int kMost = 400;  // points; a loop that gets there never ends

// Hundreds of applies, each with a dozen syncs: cheap where nothing is ever written to a disk.
std::string in_memory() {
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

// The hook is a plain function: what it needs is here.
int points_left = -1;  // the process ends at the point where this is 0
std::string act_at;    // and acts as the host at this one, once
std::function<void()> act;

void at_point(const char* name) {
  if (!act_at.empty() && act_at == name) {
    act_at.clear();
    std::function<void()> now = act;  // which may set the next one
    now();
  }
  if (points_left-- == 0) ::_exit(kKilled);
}

// Runs `body` in a process that ends at its `point`th fault point. True when it was killed.
bool killed_at(int point, const std::function<bool()>& body) {
  pid_t pid = ::fork();
  if (pid == 0) {
    points_left = point;
    sys::set_fault_hook(&at_point);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kKilled))
      << "point " << point << ": " << status;
  return WIFEXITED(status) && WEXITSTATUS(status) == kKilled;
}

class ApplyCrash : public ::testing::Test {
 protected:
  ApplyCrash()
      : before_{{"edit", file("old")},        {"gone", file("x")},      {"d", directory()},
                {"d/a", file("a")},           {"swap", directory()},    {"swap/in", file("i")},
                {"link", symlink_to("edit")}, {"mode", directory(0755)}},
        after_{{"edit", file("new")},        {"made", directory()},
               {"made/f", file("f")},        {"swap", file("now a file")},
               {"link", symlink_to("made")}, {"mode", directory(0700)}} {}

  void SetUp() override { sys::set_fault_hook(nullptr); }

  // A host and a view that has one change of every kind.
  std::unique_ptr<StackOnDisk> make() const {
    auto disk = std::make_unique<StackOnDisk>(before_, in_memory());
    std::string layer = disk->add_layer(after_);
    make_whiteout(layer + "/gone");
    make_whiteout(layer + "/d");
    return disk;
  }

  // True when it was applied, false when nothing was: anything else is a failure.
  bool is_applied(const StackOnDisk& disk) const {
    Tree now = disk.host();
    if (now == after_) return true;
    EXPECT_EQ(testing::difference(before_, now), "") << "half of it is there";
    return false;
  }

  static bool apply(const StackOnDisk& disk) {
    return apply_changes(disk.stack, {}, testing::site_of(disk)).ok();
  }
  static bool recover(const StackOnDisk& disk) {
    return recover_apply(testing::site_of(disk).journal_dir).ok();
  }

  Tree before_, after_;
};

TEST_F(ApplyCrash, AKillAtAnyPointIsAllOrNothingAfterRecovery) {
  int finished = 0, undone = 0;
  for (int point = 0;; ++point) {
    ASSERT_LT(point, kMost);
    auto disk = make();
    bool killed = killed_at(point, [&] { return apply(*disk); });
    bool committed = sys::exists(disk->path("journal") + "/journal");
    Result<Recovery> recovery = recover_apply(testing::site_of(*disk).journal_dir);
    ASSERT_TRUE(recovery.ok()) << point << ": " << recovery.error().describe();
    bool applied = is_applied(*disk);
    if (committed) {
      EXPECT_EQ(recovery->outcome, Recovered::finished) << point;
      EXPECT_EQ(recovery->tag, "view-1");
      EXPECT_TRUE(applied) << point;
    } else {
      EXPECT_EQ(recovery->outcome, Recovered::nothing) << point;
    }
    (applied ? finished : undone) += 1;
    EXPECT_EQ(testing::leftovers(*disk), "") << point;
    if (!killed) break;
  }
  EXPECT_GT(finished, 10);
  EXPECT_GT(undone, 5);
}

TEST_F(ApplyCrash, ASecondKillDuringRecoveryIsNoWorse) {
  for (int point = 0;; point += 4) {
    bool killed = false;
    for (int second = 0;; ++second) {
      ASSERT_LT(second, kMost);
      auto disk = make();
      killed = killed_at(point, [&] { return apply(*disk); });
      bool again = killed_at(second, [&] { return recover(*disk); });
      ASSERT_TRUE(recover(*disk)) << point << " " << second;
      is_applied(*disk);
      EXPECT_EQ(testing::leftovers(*disk), "") << point << " " << second;
      if (!again) break;
    }
    if (!killed) break;
  }
}

// --- the host acts while it is applied -----------------------------------------------------------

// Applies with `host_acts` at the point; a conflict must come, and the host's edit must stay.
void expect_undone(StackOnDisk& disk, const std::string& point, std::function<void()> host_acts,
                   const Tree& expected) {
  act_at = point;
  act = std::move(host_acts);
  points_left = -1;
  sys::set_fault_hook(&at_point);
  Result<ApplyReport> report = apply_changes(disk.stack, {}, testing::site_of(disk));
  sys::set_fault_hook(nullptr);
  ASSERT_TRUE(report.ok()) << report.error().describe();
  EXPECT_TRUE(report->has_conflict) << testing::results_of(*report);
  EXPECT_EQ(testing::difference(expected, disk.host()), "");
  EXPECT_EQ(testing::leftovers(disk), "");
}

TEST_F(ApplyCrash, AnEditBetweenCheckAndExchangeUndoesAll) {
  for (const char* point : {"apply.staged", "apply.committed"}) {
    auto disk = make();
    Tree expected = before_;
    expected["edit"] = file("by the host");
    expect_undone(
        *disk, point, [&] { write_file(disk->in_host("edit"), "by the host"); }, expected);
  }
}

TEST_F(ApplyCrash, AnEditOfTheSameSizeAtOnceIsSeenToo) {
  auto disk = make();
  Tree expected = before_;
  expected["edit"] = file("own");
  expect_undone(
      *disk, "apply.committed", [&] { write_file(disk->in_host("edit"), "own"); }, expected);
}

TEST_F(ApplyCrash, AFileThatAppearsWhereOneIsMadeIsLeftAlone) {
  auto disk = make();
  Tree expected = before_;
  expected["made"] = file("by the host");
  expect_undone(
      *disk, "apply.committed", [&] { write_file(disk->in_host("made"), "by the host"); },
      expected);
}

TEST_F(ApplyCrash, AFileThatAppearsInADirectoryThatGoesIsLeftAlone) {
  auto disk = make();
  Tree expected = before_;
  expected["d/later"] = file("by the host");
  expect_undone(
      *disk, "apply.committed", [&] { write_file(disk->in_host("d/later"), "by the host"); },
      expected);
}

TEST_F(ApplyCrash, AVanishedFileIsNotBroughtBack) {
  auto disk = make();
  Tree expected = before_;
  expected.erase("edit");
  expect_undone(
      *disk, "apply.committed", [&] { ::unlink(disk->in_host("edit").c_str()); }, expected);
}

TEST_F(ApplyCrash, AWriteThroughAnOpenDescriptorIsSeen) {
  // Right after the exchange, and when the exchange was compared already: the descriptor's file
  // lies in the staging directory by then.
  for (const std::string point : {"apply.renamed", "apply.op_done"}) {
    auto disk = make();
    Tree expected = before_;
    expected["edit"] = file("old and more");
    sys::FileFd open = sys::open_file(disk->in_host("edit"), O_WRONLY | O_APPEND).value();
    auto write_once_exchanged = [&] {
      if (sys::read_file(disk->in_host("edit")).value() == "old") {
        act_at = point;
        return;
      }
      ASSERT_TRUE(sys::write_all(open, " and more").ok());
    };
    expect_undone(*disk, point, write_once_exchanged, expected);
  }
}

TEST_F(ApplyCrash, ADirectorySwappedForALinkIsNotFollowed) {
  Tree host{{"d", directory()}, {"d/a", file("0")}, {"b", file("0")}};
  StackOnDisk disk(host);
  disk.add_layer({{"d", directory()}, {"d/a", file("1")}, {"d/new", file("n")}, {"b", file("1")}});
  std::string outside = disk.path("outside");
  testing::write_tree(outside, {{"a", file("0")}});
  auto swap = [&] {
    ASSERT_EQ(::rename(disk.in_host("d").c_str(), disk.in_host("was-d").c_str()), 0);
    ASSERT_EQ(::symlink(outside.c_str(), disk.in_host("d").c_str()), 0);
  };
  Tree expected{
      {"d", symlink_to(outside)}, {"was-d", directory()}, {"was-d/a", file("0")}, {"b", file("0")}};
  expect_undone(disk, "apply.committed", swap, expected);
  EXPECT_EQ(testing::difference({{"a", file("0")}}, testing::read_tree(outside)), "");
}

TEST_F(ApplyCrash, AKillWhileUndoingLosesNothingOfTheHost) {
  Tree expected = before_;
  expected["swap/in"] = file("by the host");
  for (int point = 0;; ++point) {
    ASSERT_LT(point, kMost);
    auto disk = make();
    bool edited = false;
    bool killed = killed_at(point, [&] {
      act_at = "apply.committed";
      act = [&] { write_file(disk->in_host("swap/in"), "by the host"); };
      return apply(*disk);
    });
    edited = sys::exists(disk->path("journal") + "/journal");
    ASSERT_TRUE(recover(*disk)) << point;
    Tree now = disk->host();
    if (edited || !killed) {
      EXPECT_EQ(testing::difference(expected, now), "") << point;
    } else {
      EXPECT_TRUE(now == before_ || now == expected) << point;
    }
    EXPECT_EQ(testing::leftovers(*disk), "") << point;
    if (!killed) break;
  }
}

TEST_F(ApplyCrash, AnUndoThatBeganIsNotTurnedIntoAnApply) {
  auto disk = make();
  ASSERT_TRUE(killed_at(kMost, [&] {
    act_at = "apply.committed";
    act = [&] {
      write_file(disk->in_host("made"), "in the way");
      act_at = "apply.abort_marked";
      act = [] { ::_exit(kKilled); };
    };
    return apply(*disk);
  }));
  // What stood in the way is gone by now.
  ASSERT_EQ(::unlink(disk->in_host("made").c_str()), 0);
  Result<Recovery> recovery = recover_apply(testing::site_of(*disk).journal_dir);
  ASSERT_TRUE(recovery.ok());
  EXPECT_EQ(recovery->outcome, Recovered::undone);
  EXPECT_FALSE(is_applied(*disk));
}

TEST_F(ApplyCrash, ADirectoryThatTheHostFilledMeanwhileStaysWithWhatIsInIt) {
  auto disk = make();
  Tree expected = before_;
  expected["made"] = directory();
  expected["made/f"] = file("by the host");
  auto fill_once_made = [&] {
    if (!sys::exists(disk->in_host("made"))) {
      act_at = "apply.op_done";
      return;
    }
    write_file(disk->in_host("made/f"), "by the host");  // where one of ours would come
  };
  expect_undone(*disk, "apply.op_done", fill_once_made, expected);
}

TEST_F(ApplyCrash, WhatTheHostWritesOverAnAppliedFileStaysAndTheOldVersionIsKept) {
  auto disk = make();
  // "gone" is removed after "edit" is not yet exchanged; a mismatch at the end undoes all, but by
  // then the host has written over what was applied.
  std::function<void()> watch = [&] {
    if (sys::read_file(disk->in_host("edit")).value() == "new") {
      write_file(disk->in_host("edit"), "newer, by the host");
      ::unlink(disk->in_host("link").c_str());  // the mismatch
      return;
    }
    act_at = "apply.renamed";
  };
  act_at = "apply.renamed";
  act = watch;
  points_left = -1;
  sys::set_fault_hook(&at_point);
  Result<ApplyReport> report = apply_changes(disk->stack, {}, testing::site_of(*disk));
  sys::set_fault_hook(nullptr);
  ASSERT_TRUE(report.ok()) << report.error().describe();
  EXPECT_TRUE(report->has_conflict);
  EXPECT_EQ(sys::read_file(disk->in_host("edit")).value(), "newer, by the host");
  std::string reason;
  for (const AppliedPath& path : report->paths) {
    if (path.result == ApplyResult::conflict) reason = path.reason;
  }
  size_t at = reason.find("kept in ");
  ASSERT_NE(at, std::string::npos) << reason;
  Tree kept = testing::read_tree(reason.substr(at + 8));
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept.begin()->second, file("old"));
  EXPECT_NE(kept.begin()->first.find("edit"), std::string::npos);
}

TEST_F(ApplyCrash, ARecoveryOfAnotherTreeIsRefused) {
  auto disk = make();
  // Killed right after the commit.
  act_at = "apply.committed";
  ASSERT_TRUE(killed_at(kMost, [&] {
    act = [] { ::_exit(kKilled); };
    return apply(*disk);
  }));
  ASSERT_EQ(::rename(disk->host_dir().c_str(), disk->path("moved").c_str()), 0);
  testing::write_tree(disk->host_dir(), before_);
  Result<Recovery> recovery = recover_apply(testing::site_of(*disk).journal_dir);
  ASSERT_FALSE(recovery.ok());
  EXPECT_EQ(recovery.error().code(), Code::failed_precondition);
  EXPECT_FALSE(recovery.error().remedy().empty());
  EXPECT_EQ(testing::difference(before_, disk->host()), "");
}

TEST_F(ApplyCrash, TwoAppliesDoNotMix) {
  auto disk = make();
  ASSERT_TRUE(sys::make_dirs(disk->path("journal"), 0700).ok());
  sys::FileFd held =
      sys::lock_path(disk->path("journal") + "/lock", sys::LockMode::exclusive, sys::LockWait::no)
          .value();
  EXPECT_EQ(apply_changes(disk->stack, {}, testing::site_of(*disk)).error().code(),
            Code::failed_precondition);
  EXPECT_EQ(testing::difference(before_, disk->host()), "");
}

}  // namespace
}  // namespace paddock::view
