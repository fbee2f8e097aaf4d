#include "view/view_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/path_lock.h"
#include "sys/testing/temp_dir.h"
#include "view/catalog.h"
#include "view/view_dirs.h"

namespace paddock::view {
namespace {

using model::HostPath;
using model::ViewId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Works on plain directories: what a command would write through the overlay is written to the
// upper.
class ViewStoreTest : public ::testing::Test {
 protected:
  ViewStoreTest() {
    root_ = sys::real_path(tmp_.path()).value();
    home_ = HostPath(root_ + "/paddock");
    workspace_ = HostPath(root_ + "/ws");
    EXPECT_TRUE(sys::make_dirs(home_.str(), 0700).ok());
    EXPECT_TRUE(sys::make_dirs(workspace_.str() + "/src", 0755).ok());
    write(workspace_ / "src/a", "host a");
    reopen_store();
  }

  void reopen_store() {
    store_.reset();
    database_.reset();
    database_ = std::make_unique<store::Database>(
        store::Database::open((home_ / "paddock.db").str()).value());
    store_ = open_view_store(home_, *database_).value();
  }
  static void write(const HostPath& path, const std::string& text) {
    ASSERT_TRUE(sys::make_dirs(path.str().substr(0, path.str().find_last_of('/')), 0755).ok());
    ASSERT_TRUE(sys::replace_file(path.str(), text, 0644).ok());
  }
  OpenOptions options() const {
    OpenOptions options;
    options.workspace = workspace_;
    options.home = home_;
    return options;
  }
  static Step step(const std::string& word) {
    Step step;
    step.argv = {word};
    step.started_ms = 1;
    step.ended_ms = 2;
    step.outcome_json = "{}";
    return step;
  }
  static HostPath upper_of(OpenView& view, size_t tree = 0) {
    return view.trees().at(tree).upper->upper;
  }

  // A view of one step that added `name`.
  ViewId make_view(const std::string& name) {
    auto view = store_->create(options()).value();
    EXPECT_TRUE(view->begin(step("make")).ok());
    write(upper_of(*view) / name, name);
    EXPECT_TRUE(view->finish(step("make")).value().has_value());
    return view->id();
  }
  // One that was left with `name` in its upper, as by an owner who was killed or has let go of it.
  ViewId leave_view(const std::string& name) {
    auto view = store_->create(options()).value();
    Step begun;
    begun.argv = {"leave"};
    begun.started_ms = 1;
    EXPECT_TRUE(view->begin(begun).ok());
    if (!name.empty()) write(upper_of(*view) / name, name);
    return view->id();
  }
  // One more step that added `name`.
  void go_on(const ViewId& id, const std::string& name) {
    auto view = store_->reopen(id, options()).value();
    EXPECT_TRUE(view->begin(step("go on")).ok());
    write(upper_of(*view) / name, name);
    EXPECT_TRUE(view->finish(step("go on")).value().has_value());
  }
  std::vector<std::string> changed(const ViewId& id) {
    std::vector<std::string> paths;
    model::ChangeSet set = store_->changes(id).value();
    for (const model::Change& change : set.changes) paths.push_back(change.path);
    return paths;
  }
  std::vector<ViewInfo> views() { return store_->list().value(); }
  std::vector<std::string> views_on_disk() {
    std::vector<std::string> names;
    auto entries = sys::list_dir(sys::open_dir((home_ / "views").str()).value()).value();
    for (const auto& entry : entries) {
      names.push_back(entry.name);
    }
    return names;
  }

  sys::testing::TempDir tmp_;
  std::string root_;
  HostPath home_, workspace_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<ViewStore> store_;
};

TEST_F(ViewStoreTest, AnOpenViewShowsTheWorkspaceAtItsOwnPathBelowAnUpperThatLooksLikeIt) {
  ASSERT_EQ(::chmod(workspace_.c_str(), 0751), 0);
  auto view = store_->create(options()).value();
  ASSERT_EQ(view->trees().size(), 1u);
  const model::OverlayTree& tree = view->trees()[0];
  EXPECT_EQ(tree.at.str(), workspace_.str());
  EXPECT_EQ(tree.lowers.back(), workspace_);
  EXPECT_EQ(sys::stat_path(tree.upper->upper.str())->st_mode & 07777, 0751u);
  EXPECT_TRUE(sys::exists(tree.upper->work.str()));
  EXPECT_EQ(view->owner_uid(), ::geteuid());
}

TEST_F(ViewStoreTest, ARunThatChangedNothingLeavesNoView) {
  auto view = store_->create(options()).value();
  ASSERT_TRUE(view->begin(step("true")).ok());
  EXPECT_EQ(view->finish(step("true")).value(), std::nullopt);
  EXPECT_THAT(store_->list().value(), IsEmpty());
  EXPECT_THAT(views_on_disk(), IsEmpty());
}

TEST_F(ViewStoreTest, ARewriteToTheSameContentLeavesNoView) {
  auto view = store_->create(options()).value();
  write(upper_of(*view) / "src/a", "host a");
  EXPECT_EQ(view->finish(step("touch")).value(), std::nullopt);
  EXPECT_THAT(views_on_disk(), IsEmpty());
}

TEST_F(ViewStoreTest, AChangeIsKeptWithItsHistory) {
  ViewId id = make_view("new");
  reopen_store();
  auto views = store_->list().value();
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].id, id);
  EXPECT_EQ(views[0].workspace, workspace_);
  EXPECT_EQ(views[0].state, ViewState::ready);
  EXPECT_EQ(views[0].steps, 1u);
  EXPECT_GT(views[0].bytes, 0u);
  EXPECT_THAT(changed(id), ElementsAre("new"));
  auto steps = store_->steps(id).value();
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].number, 1u);
  EXPECT_THAT(steps[0].argv, ElementsAre("make"));
  EXPECT_EQ(steps[0].ended_ms, 2);
}

TEST_F(ViewStoreTest, TheNextStepLiesOverTheLayersOfTheEarlierOnes) {
  ViewId id = make_view("one");
  go_on(id, "two");
  auto view = store_->reopen(id, options()).value();
  const auto& lowers = view->trees()[0].lowers;
  ViewDirs dirs(home_, id);
  ASSERT_EQ(lowers.size(), 4u);
  EXPECT_EQ(lowers[0], dirs.layer(0, 2));
  EXPECT_EQ(lowers[1], dirs.layer(0, 1));
  EXPECT_THAT(lowers[2].str(), HasSubstr("/masks/"));
  EXPECT_EQ(lowers[3], workspace_);
  EXPECT_EQ(upper_of(*view), dirs.layer(0, 3));
  EXPECT_FALSE(sys::exists(dirs.work(0, 1).str())) << "a sealed layer has no work directory";
}

TEST_F(ViewStoreTest, AnUnchangedStepLeavesNoLayerAndTheViewStays) {
  ViewId id = make_view("one");
  auto view = store_->reopen(id, options()).value();
  EXPECT_TRUE(view->finish(step("true")).value().has_value());
  view.reset();
  EXPECT_FALSE(sys::exists(ViewDirs(home_, id).step(0, 2).str()));
  EXPECT_EQ(store_->steps(id).value().size(), 2u);
  EXPECT_THAT(changed(id), ElementsAre("one"));
}

TEST_F(ViewStoreTest, OneCommandAtATimeRunsInAView) {
  ViewId id = make_view("one");
  auto first = store_->reopen(id, options()).value();
  EXPECT_EQ(store_->list().value()[0].state, ViewState::running);
  for (Code code :
       {store_->reopen(id, options()).error().code(), store_->discard(id).error().code(),
        store_->rollback(id, 1).error().code(), store_->apply(id, {}).error().code()}) {
    EXPECT_EQ(code, Code::failed_precondition);
  }
  EXPECT_THAT(changed(id), ElementsAre("one")) << "reading is allowed";
}

TEST_F(ViewStoreTest, ACommandThatNeverBeganLeavesNothing) {
  store_->create(options()).value().reset();
  EXPECT_THAT(views_on_disk(), IsEmpty());
  EXPECT_THAT(store_->list().value(), IsEmpty());
  ViewId id = make_view("one");
  store_->reopen(id, options()).value().reset();
  EXPECT_EQ(store_->list().value()[0].state, ViewState::ready);
  EXPECT_EQ(store_->steps(id).value().size(), 1u);
}

TEST_F(ViewStoreTest, AKilledCommandLeavesAnInterruptedViewWithItsWork) {
  auto view = store_->create(options()).value();
  ASSERT_TRUE(view->begin(step("killed")).ok());
  write(upper_of(*view) / "half", "x");
  ViewId id = view->id();
  view.reset();
  reopen_store();
  auto views = store_->list().value();
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].state, ViewState::interrupted);
  EXPECT_EQ(store_->newest_of(workspace_).value().id, id);
  EXPECT_THAT(changed(id), ElementsAre("half"));
  EXPECT_THAT(store_->steps(id).value()[0].argv, ElementsAre("killed"));
  go_on(id, "rest");
  EXPECT_THAT(changed(id), ElementsAre("half", "rest"));
  EXPECT_EQ(store_->steps(id).value()[0].outcome_json, "{}");
  ASSERT_TRUE(store_->rollback(id, 1).ok());
  EXPECT_THAT(changed(id), ElementsAre("half"));
}

TEST_F(ViewStoreTest, RollbackTakesBackTheLastStepsAndFreesTheirLayers) {
  ViewId id = make_view("one");
  std::vector<std::string> before = changed(id);
  go_on(id, "two");
  go_on(id, "three");
  ASSERT_TRUE(store_->rollback(id, 2).ok());
  EXPECT_EQ(changed(id), before);
  EXPECT_FALSE(sys::exists(ViewDirs(home_, id).layer(0, 2).str()));
  EXPECT_EQ(store_->find(id.str()).value().steps, 1u);
  auto steps = store_->steps(id).value();
  ASSERT_EQ(steps.size(), 3u) << "the history keeps what was undone";
  EXPECT_TRUE(steps[1].undone && steps[2].undone);
  go_on(id, "four");
  EXPECT_THAT(changed(id), ElementsAre("four", "one"));
}

TEST_F(ViewStoreTest, RollbackOfMoreThanThereIsChangesNothing) {
  ViewId id = make_view("one");
  EXPECT_EQ(store_->rollback(id, 2).error().code(), Code::invalid_argument);
  EXPECT_EQ(store_->rollback(id, 0).error().code(), Code::invalid_argument);
  EXPECT_THAT(changed(id), ElementsAre("one"));
}

TEST_F(ViewStoreTest, DiscardFreesTheDiskAndKeepsTheHistory) {
  ViewId id = make_view("one");
  ASSERT_TRUE(store_->discard(id).ok());
  EXPECT_TRUE(store_->discard(id).ok()) << "twice is no error";
  EXPECT_THAT(views_on_disk(), IsEmpty());
  EXPECT_EQ(store_->list().value()[0].state, ViewState::discarded);
  EXPECT_EQ(store_->steps(id).value().size(), 1u);
  EXPECT_EQ(store_->changes(id).error().code(), Code::failed_precondition);
  EXPECT_EQ(store_->newest_of(workspace_).error().code(), Code::not_found);
}

TEST_F(ViewStoreTest, AnAppliedViewIsNoLongerTheNewestAndTakesNoCommand) {
  ViewId id = make_view("one");
  ApplyOptions dry;
  dry.writes = Writes::dry_run;
  ASSERT_TRUE(store_->apply(id, dry).ok());
  EXPECT_EQ(store_->list().value()[0].state, ViewState::ready) << "a dry run applies nothing";
  ASSERT_TRUE(store_->apply(id, {}).ok());
  EXPECT_EQ(store_->list().value()[0].state, ViewState::applied);
  EXPECT_EQ(sys::read_file((workspace_ / "one").str()).value(), "one");
  EXPECT_EQ(store_->newest_of(workspace_).error().code(), Code::not_found);
  EXPECT_EQ(store_->reopen(id, options()).error().code(), Code::failed_precondition);
}

TEST_F(ViewStoreTest, HeldBackAndUnnamedPathsKeepAViewOpen) {
  auto view = store_->create(options()).value();
  write(upper_of(*view) / "plain", "x");
  write(upper_of(*view) / "other", "x");
  write(upper_of(*view) / ".envrc", "x");
  EXPECT_EQ(view->finish(step("make")).value()->held, 1u);
  ApplyOptions one;
  one.paths = {"plain"};
  ASSERT_TRUE(store_->apply(view->id(), one).ok());
  EXPECT_EQ(store_->list().value()[0].state, ViewState::ready);
  ASSERT_TRUE(store_->apply(view->id(), {}).ok());
  EXPECT_EQ(store_->list().value()[0].state, ViewState::ready);
  EXPECT_THAT(changed(view->id()), ElementsAre(".envrc"));
  ApplyOptions all;
  all.host_exec = HostExec::allow;
  ASSERT_TRUE(store_->apply(view->id(), all).ok());
  EXPECT_EQ(store_->list().value()[0].state, ViewState::applied);
}

TEST_F(ViewStoreTest, AConflictAppliesNothingAndKeepsTheViewOpen) {
  auto view = store_->create(options()).value();
  write(upper_of(*view) / "src/a", "view");
  write(upper_of(*view) / "new", "x");
  ASSERT_TRUE(view->finish(step("make")).ok());
  write(workspace_ / "src/a", "moved on");
  EXPECT_TRUE(store_->apply(view->id(), {}).value().has_conflict);
  EXPECT_EQ(store_->list().value()[0].state, ViewState::ready);
  EXPECT_FALSE(sys::exists((workspace_ / "new").str()));
}

TEST_F(ViewStoreTest, AViewThatGoesOnAfterAPartialApplyBringsTheRest) {
  ViewId id = make_view("one");
  go_on(id, "two");
  ApplyOptions some;
  some.paths = {"one"};
  ASSERT_TRUE(store_->apply(id, some).ok());
  EXPECT_FALSE(sys::exists((workspace_ / "two").str()));
  go_on(id, "three");
  ASSERT_TRUE(store_->apply(id, {}).ok());
  for (const char* name : {"one", "two", "three"}) {
    EXPECT_EQ(sys::read_file((workspace_ / name).str()).value(), name);
  }
}

TEST_F(ViewStoreTest, ViewsAreFoundByAnUnambiguousPrefix) {
  ViewId id = make_view("one");
  EXPECT_EQ(store_->find(id.str().substr(0, 4)).value().id, id);
  EXPECT_EQ(store_->find(id.str().substr(0, 3)).error().code(), Code::invalid_argument);
  EXPECT_EQ(store_->find("....").error().code(), Code::not_found);
}

TEST_F(ViewStoreTest, TheNewestViewIsThatOfTheSameWorkspaceByAnySpelling) {
  ViewId first = make_view("one");
  ViewId second = make_view("two");
  ASSERT_EQ(::symlink("ws", (root_ + "/link").c_str()), 0);
  EXPECT_EQ(store_->newest_of(HostPath(root_ + "/link")).value().id, second);
  ASSERT_TRUE(store_->discard(second).ok());
  EXPECT_EQ(store_->newest_of(workspace_).value().id, first);
  EXPECT_EQ(store_->newest_of(HostPath(root_)).error().code(), Code::not_found);
}

TEST_F(ViewStoreTest, GarbageGoesWithItsRowsAndItsFiles) {
  ViewId kept = make_view("one");
  ViewId gone = make_view("two");
  ASSERT_TRUE(store_->discard(gone).ok());
  auto removed = store_->collect_garbage({}).value();
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed[0].id, gone);
  EXPECT_THAT(views_on_disk(), ElementsAre(kept.str()));
  EXPECT_EQ(store_->list().value().size(), 1u);
  EXPECT_EQ(store_->collect_garbage({0, 0, {}}).value().size(), 1u);
  EXPECT_THAT(views_on_disk(), IsEmpty());
}

TEST_F(ViewStoreTest, ArgvAndPathsOfAnyBytesComeBack) {
  workspace_ = HostPath(root_ + "/w\xff,:\n");
  ASSERT_TRUE(sys::make_dirs(workspace_.str(), 0755).ok());
  auto view = store_->create(options()).value();
  Step odd = step("\xfe\n");
  write(upper_of(*view) / "x", "x");
  ASSERT_TRUE(view->finish(odd).ok());
  EXPECT_EQ(store_->list().value()[0].workspace, workspace_);
  EXPECT_THAT(store_->steps(view->id()).value()[0].argv, ElementsAre("\xfe\n"));
}

TEST_F(ViewStoreTest, RefusedWorkspacesLeaveNothing) {
  for (const std::string& path : {std::string("/"), home_.str(), root_ + "/missing", root_}) {
    OpenOptions refused = options();
    refused.workspace = HostPath(path);
    auto view = store_->create(refused);
    ASSERT_FALSE(view.ok()) << path;
    EXPECT_FALSE(view.error().remedy().empty()) << path;
  }
  EXPECT_THAT(views_on_disk(), IsEmpty());
}

TEST_F(ViewStoreTest, UpperBytesFollowWhatIsWritten) {
  auto view = store_->create(options()).value();
  uint64_t before = view->upper_bytes();
  write(upper_of(*view) / "big", std::string(1 << 20, 'x'));
  EXPECT_EQ(view->upper_bytes(), before) << "measured a moment ago";
  ::usleep(600'000);
  EXPECT_GE(view->upper_bytes(), before + (1 << 20));
}

// Random steps, written as overlayfs would write them, taken back to any point.
class ViewStorePropertyTest : public ViewStoreTest {
 protected:
  void write_randomly(const HostPath& upper) {
    for (size_t changes = 1 + random_() % 4; changes > 0; --changes) {
      HostPath path = upper / (random_() % 2 == 0 ? "src" : "d" + std::to_string(random_() % 3)) /
                      std::string(1, static_cast<char>('a' + random_() % 4));
      ASSERT_TRUE(sys::make_dirs(path.str().substr(0, path.str().find_last_of('/')), 0755).ok());
      ASSERT_TRUE(sys::remove_tree(path.str()).ok());
      switch (random_() % 4) {
        case 0:
          ASSERT_EQ(::mknod(path.c_str(), S_IFCHR, 0), 0);
          break;
        case 1:
          ASSERT_EQ(::symlink("a", path.c_str()), 0);
          break;
        case 2:
          write(path / "deep", std::to_string(random_()));
          break;
        default:
          write(path, std::to_string(random_()));
          break;
      }
    }
  }
  std::string told(const ViewId& id) {
    std::string all;
    model::ChangeSet set = store_->changes(id).value();
    for (const model::Change& change : set.changes) {
      all += change.path + " " + std::string(name_of(model::kChangeKindNames, change.kind)) + " " +
             change.after.digest + change.after.target + "\n";
    }
    return all;
  }

  std::mt19937 random_{7};
};

TEST_F(ViewStorePropertyTest, RollbackIsTheViewAsItWasBefore) {
  for (const char* name : {"a", "b", "c"}) write(workspace_ / "src" / name, name);
  ViewId id = make_view("first");
  std::vector<std::string> states{told(id)};
  for (int round = 0; round < 25; ++round) {
    if (states.size() > 1 && random_() % 3 == 0) {
      size_t count = 1 + random_() % (states.size() - 1);
      ASSERT_TRUE(store_->rollback(id, static_cast<uint32_t>(count)).ok());
      states.resize(states.size() - count);
    } else {
      auto view = store_->reopen(id, options()).value();
      write_randomly(upper_of(*view));
      ASSERT_TRUE(view->finish(step("random")).value().has_value());
      states.push_back(told(id));
    }
    ASSERT_EQ(told(id), states.back()) << round;
  }
}

// Ends the process at the nth fault point that it passes.
int g_points_left = 0;
void die_at_point(const char*) {
  if (g_points_left-- == 0) ::_exit(137);
}

class ViewStoreCrashTest : public ViewStoreTest {
 protected:
  // Runs `work` in children that die at their first, second, … point, until one survives; after
  // each, a new store must find everything in order.
  void crash_everywhere(const std::function<void()>& prepare, const std::function<void()>& work,
                        const std::function<void()>& check) {
    for (int point = 0;; ++point) {
      ASSERT_LT(point, 100);
      prepare();
      store_.reset();
      database_.reset();
      pid_t child = ::fork();
      if (child == 0) {
        reopen_store();
        g_points_left = point;
        sys::set_fault_hook(&die_at_point);
        work();
        ::_exit(0);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      reopen_store();
      SCOPED_TRACE(point);
      check();
      if (::testing::Test::HasFatalFailure() || WEXITSTATUS(status) == 0) {
        EXPECT_GT(point, 0) << "no fault point was passed";
        return;
      }
      ASSERT_EQ(WEXITSTATUS(status), 137);
    }
  }
  // Every directory has a row, every row that is not discarded a directory.
  void expect_in_order() {
    std::vector<std::string> listed;
    for (const ViewInfo& info : views()) {
      EXPECT_NE(info.state, ViewState::running);
      if (info.state != ViewState::discarded) listed.push_back(info.id.str());
    }
    std::sort(listed.begin(), listed.end());
    EXPECT_EQ(views_on_disk(), listed);
  }
};

TEST_F(ViewStoreCrashTest, AKillWhileARunIsKeptLosesNoWorkThatTheRunDid) {
  ViewId last;
  crash_everywhere(
      [&] {
        for (const ViewInfo& info : views()) ASSERT_TRUE(store_->discard(info.id).ok());
        ASSERT_TRUE(store_->collect_garbage({}).ok());
      },
      [&] {
        auto view = store_->create(options()).value();
        (void)view->begin(step("run")).ok();
        write(upper_of(*view) / "work", "w");
        (void)view->finish(step("run")).ok();
        view.reset();
      },
      [&] {
        expect_in_order();
        for (const ViewInfo& info : views()) {
          EXPECT_THAT(changed(info.id), ElementsAre("work"));
          go_on(info.id, "more");
          EXPECT_THAT(changed(info.id), ElementsAre("more", "work"));
        }
      });
}

TEST_F(ViewStoreCrashTest, AKilledRollbackIsDoneOrNotDone) {
  ViewId id;
  crash_everywhere(
      [&] {
        id = make_view("one");
        go_on(id, "two");
      },
      [&] { (void)store_->rollback(id, 1).ok(); },
      [&] {
        expect_in_order();
        std::vector<std::string> now = changed(id);
        bool undone = now == std::vector<std::string>{"one"};
        EXPECT_TRUE(undone || now == (std::vector<std::string>{"one", "two"}));
        EXPECT_EQ(sys::exists(ViewDirs(home_, id).step(0, 2).str()), !undone)
            << "undone layers are gone";
      });
}

TEST_F(ViewStoreCrashTest, TheNextRunInTheWorkspaceFinishesOrUndoesAKilledApply) {
  ViewId id;
  crash_everywhere(
      [&] {
        write(workspace_ / "src/a", "host a");
        ASSERT_TRUE(sys::remove_tree((workspace_ / "new").str()).ok());
        auto view = store_->create(options()).value();
        write(upper_of(*view) / "src/a", "view a");
        write(upper_of(*view) / "new", "new");
        ASSERT_TRUE(view->finish(step("make")).value().has_value());
        id = view->id();
      },
      [&] { (void)store_->apply(id, {}).ok(); },
      [&] {
        store_->create(options()).value().reset();
        expect_in_order();
        bool is_new = sys::exists((workspace_ / "new").str());
        EXPECT_EQ(sys::read_file((workspace_ / "src/a").str()).value(),
                  is_new ? "view a" : "host a");
        // Killed after the last file and before the row: asking again finds nothing left to do.
        if (store_->find(id.str()).value().state == ViewState::ready) {
          EXPECT_FALSE(store_->apply(id, {}).value().has_conflict);
        }
        EXPECT_EQ(store_->find(id.str()).value().state, ViewState::applied);
        EXPECT_EQ(sys::read_file((workspace_ / "src/a").str()).value(), "view a");
      });
}

TEST_F(ViewStoreCrashTest, AKilledRemovalLeavesNothingUnlisted) {
  ViewId discarded, collected;
  crash_everywhere(
      [&] {
        discarded = make_view("one");
        collected = make_view("two");
      },
      [&] {
        (void)store_->discard(discarded).ok();
        (void)store_->collect_garbage({0, 0, {}}).ok();
      },
      [&] { expect_in_order(); });
}

// As `paddock run` beside others does: each process opens the store and sweeps.
TEST_F(ViewStoreTest, StoresThatOpenWhileOthersMakeAndDropViewsFindNoFault) {
  std::atomic<bool> done = false;
  std::thread other([&] {
    auto database = store::Database::open((home_ / "paddock.db").str()).value();
    auto store = open_view_store(home_, database).value();
    for (int round = 0; round < 6; ++round) {
      std::vector<std::unique_ptr<OpenView>> together;
      while (together.size() < 12) together.push_back(store->create(options()).value());
    }
    done = true;
  });
  while (!done) {
    auto store = open_view_store(home_, *database_);
    EXPECT_TRUE(store.ok()) << store.error().describe();
    EXPECT_TRUE(store_->list().ok());
    if (HasFailure()) break;
  }
  other.join();
}

TEST_F(ViewStoreCrashTest, ADirectoryThatSomebodyIsMakingIsNotTakenForALeftover) {
  ViewDirs dirs(home_, ViewId::parse("aaaaaaaaaaaa").value());
  ASSERT_TRUE(sys::make_dirs(dirs.root().str(), 0700).ok());
  auto lock =
      sys::lock_path(dirs.lock().str(), sys::LockMode::exclusive, sys::LockWait::no).value();
  reopen_store();
  EXPECT_TRUE(sys::exists(dirs.root().str()));
  lock.reset();
  reopen_store();
  EXPECT_FALSE(sys::exists(dirs.root().str()));
}

// ---- settled by who comes later

TEST_F(ViewStoreTest, AStepThatWasLeftIsSealedWithHowItEnded) {
  const ViewId id = leave_view("left");
  ASSERT_EQ(store_->settle(id, {7, R"({"ending":"killed"})", ""}).value()->added, 1u);
  EXPECT_EQ(store_->find(id.str()).value().state, ViewState::ready);
  const Step last = store_->steps(id).value().back();
  EXPECT_EQ(last.argv, std::vector<std::string>{"leave"});
  EXPECT_EQ(last.ended_ms, 7);
  EXPECT_EQ(last.outcome_json, R"({"ending":"killed"})");
}

TEST_F(ViewStoreTest, AStepThatSomebodyElseSealedIsToldHowItEnded) {
  const ViewId id = leave_view("left");
  ASSERT_TRUE(store_->apply(id, {}).ok());
  ASSERT_TRUE(store_->settle(id, {7, "{}", ""}).ok());
  EXPECT_EQ(store_->steps(id).value().back().ended_ms, 7);
  EXPECT_EQ(store_->find(id.str()).value().state, ViewState::applied);
}

TEST_F(ViewStoreTest, AViewThatWasLeftUnchangedIsNotKept) {
  const ViewId id = leave_view("");
  EXPECT_FALSE(store_->settle(id, {7, "{}", ""}).value().has_value());
  EXPECT_EQ(store_->settle(id, {7, "{}", ""}).error().code(), Code::not_found);
}

TEST_F(ViewStoreTest, WhoInheritsItsDescriptorsHoldsAView) {
  auto view = store_->create(options()).value();
  ASSERT_TRUE(view->begin(step("hold")).ok());
  write(upper_of(*view) / "new", "new");
  const ViewId id = view->id();
  const sys::FileFd agents(::dup(view->held().front()));
  view.reset();
  EXPECT_EQ(store_->find(id.str()).value().state, ViewState::running);
  EXPECT_EQ(store_->settle(id, {7, "{}", ""}).error().code(), Code::failed_precondition);
  EXPECT_EQ(store_->apply(id, {}).error().code(), Code::failed_precondition);
  EXPECT_EQ(store_->changes(id).value().changes.size(), 1u);
}

}  // namespace
}  // namespace paddock::view
