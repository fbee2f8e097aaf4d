// Whose layer lies over which, and what becomes of layers, with an isolation that mounts nothing:
// what a sandbox writes, the test writes into its uppers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <mutex>

#include "engine/live/sandboxes.h"
#include "image/host_root.h"
#include "isolation/testing/fake_backend.h"
#include "net/testing/on_loop.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"
#include "view/view_store.h"

namespace paddock::engine {
namespace {

using isolation::SandboxPlan;
using model::HostPath;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Snapshots : public ::testing::Test {
 protected:
  void on_loop(std::function<void(net::Task&)> body) {
    net::testing::run_on(loop_, std::move(body));
  }

  isolation::testing::FakeOptions options() {
    isolation::testing::FakeOptions options;
    options.script = [this](const wire::ToAgent& message, wire::AgentChannel& channel) {
      wire::ToHost answer;
      answer.set_request(message.request());
      if (message.has_usage_query()) {
        answer.mutable_usage()->set_processes(processes_);
      } else {
        answer.mutable_done();
      }
      (void)channel.send(answer).ok();
    };
    options.before_start = [this](const SandboxPlan& plan) -> Status {
      const std::lock_guard lock(mutex_);
      if (failing_starts_ > 0 && failing_starts_-- > 0) {
        return Error(Code::unavailable, "the test says so");
      }
      plans_.push_back(plan);
      return {};
    };
    return options;
  }

  std::unique_ptr<Sandboxes> make_sandboxes() {
    Parts parts{home_,
                HostPath("/proc/self/exe"),
                database_,
                *images_,
                *views_,
                [this](model::Level) -> Result<std::unique_ptr<isolation::Backend>> {
                  return std::unique_ptr<isolation::Backend>(
                      std::make_unique<isolation::testing::FakeBackend>(options()));
                }};
    SandboxesOptions options;
    options.lifetime = isolation::Lifetime::bound;
    return std::make_unique<Sandboxes>(loop_, std::move(parts), policy::Compiled{}, options);
  }

  void SetUp() override {
    sandboxes_ = make_sandboxes();
    ASSERT_TRUE(sandboxes_->open().ok());
    on_loop([&](net::Task& task) {
      auto made = sandboxes_->create(task, {});
      ASSERT_TRUE(made.ok()) << made.error().describe();
      sandbox_ = *made;
    });
  }

  void TearDown() override {
    on_loop([&](net::Task& task) {
      sandbox_.reset();
      sandboxes_->end(task);
    });
    sandboxes_.reset();
  }

  static HostPath upper_of(const SandboxPlan& plan) { return plan.kept_uppers.at(plan.home).upper; }
  static std::vector<HostPath> lowers_of(const SandboxPlan& plan) {
    for (const model::OverlayTree& tree : plan.files.overlays) {
      if (tree.at == plan.home) return tree.lowers;
    }
    return {};
  }
  static void write(const HostPath& directory, const std::string& name) {
    std::ofstream((directory / name).str()) << "written";
  }
  static std::vector<std::string> names_in(const HostPath& directory) {
    std::vector<std::string> names;
    const sys::DirFd open = sys::open_dir(directory.str()).value();
    const std::vector<sys::DirEntry> entries = sys::list_dir(open).value();
    for (const sys::DirEntry& entry : entries) names.push_back(entry.name);
    return names;
  }
  std::vector<std::string> layers_on_disk() {
    std::vector<std::string> names = names_in(home_ / "layers");
    std::erase(names, "below");
    return names;
  }
  SandboxPlan plan(size_t number) {
    const std::lock_guard lock(mutex_);
    return plans_.at(number);
  }

  sys::testing::TempDir tmp_;
  HostPath home_{tmp_.path()};
  store::Database database_ = store::Database::open(home_.str() + "/paddock.db").value();
  std::unique_ptr<image::ImageStore> images_ = image::make_host_images({.home = home_});
  std::unique_ptr<view::ViewStore> views_ = view::open_view_store(home_, database_).value();
  std::mutex mutex_;
  std::vector<SandboxPlan> plans_;  // of every start
  std::atomic<int> failing_starts_{0};
  std::atomic<uint32_t> processes_{0};
  net::Loop loop_;
  std::unique_ptr<Sandboxes> sandboxes_;
  std::shared_ptr<LiveSandbox> sandbox_;
};

TEST_F(Snapshots, AnIdleSandboxGoesOnInAFreshLayerOverTheSealedOne) {
  write(upper_of(plan(0)), "before");
  on_loop([&](net::Task& task) {
    auto made = sandboxes_->snapshot(task, *sandbox_, "name");
    ASSERT_TRUE(made.ok()) << made.error().describe();
    EXPECT_EQ(made->guarantee, Guarantee::quiesced);
    EXPECT_TRUE(sandbox_->is_running());
    model::Caller caller{sandbox_->info().owner, ""};
    EXPECT_EQ(sandboxes_->find_snapshot(task, "name", caller).value()->id, made->id);
    EXPECT_EQ(sandboxes_->find_snapshot(task, made->id, caller).value()->id, made->id);
    caller.owner.key = model::KeyId::from_entropy("somebody");
    EXPECT_FALSE(sandboxes_->find_snapshot(task, "name", caller).value());
    EXPECT_FALSE(sandboxes_->find_snapshot(task, made->id, caller).value());
  });
  EXPECT_EQ(lowers_of(plan(1)).front(), upper_of(plan(0)));
  EXPECT_THAT(names_in(upper_of(plan(1))), IsEmpty());
  EXPECT_NE(plan(0).boot_id, plan(1).boot_id);
}

TEST_F(Snapshots, WhileCommandsRunWhatWasWrittenIsCopied) {
  processes_ = 1;
  write(upper_of(plan(0)), "before");
  std::string layer;
  on_loop([&](net::Task& task) {
    auto made = sandboxes_->snapshot(task, *sandbox_, "");
    ASSERT_TRUE(made.ok()) << made.error().describe();
    EXPECT_EQ(made->guarantee, Guarantee::crash_consistent);
    EXPECT_TRUE(sandbox_->is_running());
    layer = made->layer;
  });
  EXPECT_THAT(plans_, SizeIs(1));  // nobody was started again
  write(upper_of(plan(0)), "after");
  EXPECT_THAT(names_in(home_ / "layers" / layer / "home.user" / "fs"), ElementsAre("before"));
}

TEST_F(Snapshots, AForkHasWhatWasWrittenBeforeAndNothingOfTheOthers) {
  write(upper_of(plan(0)), "before");
  on_loop([&](net::Task& task) {
    auto forks = sandboxes_->fork(task, *sandbox_, {2, 60'000, {}});
    ASSERT_TRUE(forks.ok()) << forks.error().describe();
    ASSERT_THAT(*forks, SizeIs(2));
    ASSERT_TRUE(forks->at(0).ok() && forks->at(1).ok());
    EXPECT_NE((*forks->at(0))->id(), (*forks->at(1))->id());
  });
  ASSERT_THAT(plans_, SizeIs(4));
  std::set<std::string> uppers;
  for (size_t number : {1, 2, 3}) {  // the sandbox itself, and its forks
    EXPECT_EQ(lowers_of(plan(number)).front(), upper_of(plan(0)));
    uppers.insert(upper_of(plan(number)).str());
  }
  EXPECT_THAT(uppers, SizeIs(3));
}

TEST_F(Snapshots, OneThatCannotGoOnIsAnErrorAndLeavesTheSandboxAsItWas) {
  write(upper_of(plan(0)), "before");
  failing_starts_ = 1;
  on_loop([&](net::Task& task) {
    EXPECT_FALSE(sandboxes_->snapshot(task, *sandbox_, "").ok());
    EXPECT_TRUE(sandbox_->is_running());
    EXPECT_THAT(sandboxes_->snapshots(task).value(), IsEmpty());
  });
  EXPECT_EQ(upper_of(plan(1)), upper_of(plan(0)));
  EXPECT_THAT(names_in(upper_of(plan(1))), ElementsAre("before"));
}

TEST_F(Snapshots, WhereTheSandboxCannotBeStartedAtAllItEndsWithAReason) {
  failing_starts_ = 2;
  on_loop([&](net::Task& task) {
    EXPECT_FALSE(sandboxes_->snapshot(task, *sandbox_, "").ok());
    for (int i = 0; i < 1000 && sandbox_->info().state != SandboxState::gone; ++i) {
      task.sleep(std::chrono::milliseconds(2));
    }
    EXPECT_EQ(sandbox_->info().state, SandboxState::gone);
    EXPECT_NE(sandbox_->info().reason.find("did not start again"), std::string::npos);
  });
}

TEST_F(Snapshots, ALayerStaysAsLongAsASandboxUsesItAndNoLonger) {
  on_loop([&](net::Task& task) {
    const Snapshot snapshot = sandboxes_->snapshot(task, *sandbox_, "").value();
    CreateRequest request;
    request.origin = Origin{snapshot.template_name, snapshot.layer};
    const std::string id = sandboxes_->create(task, request).value()->id();
    ASSERT_TRUE(sandboxes_->remove_snapshot(task, snapshot.id).ok());
    ASSERT_TRUE(sandboxes_->kill(task, sandbox_->id(), "").ok());
    EXPECT_TRUE(sys::exists((home_ / "layers" / snapshot.layer).str()));
    ASSERT_TRUE(sandboxes_->kill(task, id, "").ok());
    for (int i = 0; i < 1000 && !layers_on_disk().empty(); ++i) {
      task.sleep(std::chrono::milliseconds(2));
    }
  });
  EXPECT_THAT(layers_on_disk(), IsEmpty());
}

TEST_F(Snapshots, RolledBackItHasTheFilesOfTheSnapshotAndWhatItWroteSinceIsGone) {
  write(upper_of(plan(0)), "before");
  on_loop([&](net::Task& task) {
    const Snapshot snapshot = sandboxes_->snapshot(task, *sandbox_, "").value();
    write(upper_of(plan(1)), "since");
    Status back = sandboxes_->roll_back(task, *sandbox_, snapshot);
    ASSERT_TRUE(back.ok()) << back.error().describe();
    EXPECT_TRUE(sandbox_->is_running());
    for (int i = 0; i < 1000 && sys::exists(upper_of(plan(1)).str()); ++i) {
      task.sleep(std::chrono::milliseconds(2));
    }
  });
  EXPECT_EQ(lowers_of(plan(2)).front(), upper_of(plan(0)));
  EXPECT_FALSE(sys::exists(upper_of(plan(1)).str()));
}

TEST_F(Snapshots, APauseOfFilesAloneStartsItAgainOnThemUnderAnotherBootId) {
  write(upper_of(plan(0)), "before");
  on_loop([&](net::Task& task) {
    ASSERT_TRUE(sandboxes_->pause(task, *sandbox_, Keep::files).ok());
    EXPECT_TRUE(sandbox_->is_asleep());
    ASSERT_TRUE(sandboxes_->resume(task, *sandbox_, {sys::wall_clock_ms() + 60'000}).ok());
    EXPECT_TRUE(sandbox_->is_running());
  });
  EXPECT_EQ(upper_of(plan(1)), upper_of(plan(0)));
  EXPECT_THAT(names_in(upper_of(plan(1))), ElementsAre("before"));
  EXPECT_NE(plan(1).boot_id, plan(0).boot_id);
}

TEST_F(Snapshots, AResumeThatFailsLeavesItPausedForAnotherTry) {
  on_loop([&](net::Task& task) {
    ASSERT_TRUE(sandboxes_->pause(task, *sandbox_, Keep::files).ok());
    failing_starts_ = 1;
    const ResumeRequest again{sys::wall_clock_ms() + 60'000};
    EXPECT_FALSE(sandboxes_->resume(task, *sandbox_, again).ok());
    EXPECT_TRUE(sandbox_->is_asleep());
    EXPECT_TRUE(sandboxes_->resume(task, *sandbox_, again).ok());
  });
}

TEST_F(Snapshots, WhatAKilledDaemonLeftIsRemovedAndWhatSnapshotsNeedIsNot) {
  Snapshot snapshot;
  on_loop([&](net::Task& task) {
    snapshot = sandboxes_->snapshot(task, *sandbox_, "").value();
    sandbox_.reset();
    sandboxes_->end(task);
  });
  sandboxes_.reset();
  // Half-made: a copy without a row, and a row that nothing came to name.
  ASSERT_TRUE(sys::make_dirs((home_ / "layers" / "halfway" / "etc").str(), 0700).ok());
  ASSERT_TRUE(sys::make_dirs((home_ / "layers" / "unnamed").str(), 0700).ok());
  ASSERT_TRUE(Layers(home_, database_).add("unnamed", snapshot.layer).ok());
  sandboxes_ = make_sandboxes();
  ASSERT_TRUE(sandboxes_->open().ok());
  on_loop([&](net::Task& task) {
    for (int i = 0; i < 1000 && layers_on_disk().size() > 1; ++i) {
      task.sleep(std::chrono::milliseconds(2));
    }
  });
  EXPECT_THAT(layers_on_disk(), ElementsAre(snapshot.layer));
}

}  // namespace
}  // namespace paddock::engine
