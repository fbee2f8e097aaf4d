#include "engine/live/warm_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "engine/live/live_sandbox.h"

namespace paddock::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Makes names instead of sandboxes.
class WarmPoolTest : public ::testing::Test {
 protected:
  void fill(WarmPool::Sizes sizes) {
    WarmPool::Hooks hooks;
    hooks.make = [this](net::Task&,
                        const std::string& name) -> Result<std::pair<std::string, Warm>> {
      if (fails_) return Error(Code::unavailable, "not now");
      made_.push_back(name + std::to_string(made_.size()));
      return std::pair(made_.back(), Warm());
    };
    hooks.discard = [this](net::Task&, Warm) { ++discarded_; };
    hooks.has_room = [this] { return has_room_; };
    hooks.on_failed = [this](const std::string&, const Error&) { ++failures_; };
    hooks.on_changed = [this](const std::string& name, size_t ready) { ready_[name] = ready; };
    pool_ = std::make_unique<WarmPool>(loop_, std::move(sizes), std::move(hooks));
    on_loop([this](net::Task&) { pool_->start(); });
  }
  void TearDown() override {
    if (pool_) on_loop([this](net::Task& task) { pool_->stop(task); });
  }
  void on_loop(const std::function<void(net::Task&)>& body) {
    std::promise<void> done;
    loop_.spawn([&](net::Task& task) {
      body(task);
      done.set_value();
    });
    done.get_future().wait();
  }
  // Until `what` is so, which is looked at on the loop.
  void wait_until(const std::function<bool()>& what) {
    on_loop([&](net::Task& task) {
      for (int i = 0; i < 1000 && !what(); ++i) task.sleep(std::chrono::milliseconds(10));
      EXPECT_TRUE(what());
    });
  }
  bool take(const std::string& name) {
    bool taken = false;
    on_loop([&](net::Task&) { taken = pool_->take(name).has_value(); });
    return taken;
  }

  net::Loop loop_;
  bool fails_ = false;
  bool has_room_ = true;
  int discarded_ = 0;
  int failures_ = 0;
  std::vector<std::string> made_;
  std::map<std::string, size_t> ready_;
  std::unique_ptr<WarmPool> pool_;
};

TEST_F(WarmPoolTest, KeepsSoManyOfEachTemplateReadyAndNoMore) {
  fill({{"a", 2}, {"b", 1}, {"none", 0}});
  wait_until([&] { return ready_["a"] == 2 && ready_["b"] == 1; });
  EXPECT_TRUE(take("a"));
  wait_until([&] { return made_.size() == 4 && ready_["a"] == 2; });
  EXPECT_FALSE(pool_->keeps("none"));
  EXPECT_FALSE(take("none"));
  EXPECT_FALSE(take("c"));
  on_loop([&](net::Task& task) { task.sleep(std::chrono::milliseconds(200)); });
  EXPECT_EQ(made_.size(), 4u);
}

TEST_F(WarmPoolTest, MakesNoneWhileThereIsNoRoomAndThenGoesOn) {
  has_room_ = false;
  fill({{"a", 1}});
  on_loop([&](net::Task& task) { task.sleep(std::chrono::milliseconds(200)); });
  EXPECT_THAT(made_, IsEmpty());
  EXPECT_FALSE(take("a"));
  on_loop([&](net::Task&) { has_room_ = true; });
  wait_until([&] { return ready_["a"] == 1; });
}

TEST_F(WarmPoolTest, OneThatEndedByItselfIsReplacedAndOthersAreNobodysToRemove) {
  fill({{"a", 1}});
  wait_until([&] { return ready_["a"] == 1; });
  on_loop([&](net::Task&) {
    EXPECT_FALSE(pool_->remove("other").has_value());
    EXPECT_TRUE(pool_->remove("a0").has_value());
  });
  wait_until([&] { return ready_["a"] == 1; });
  EXPECT_THAT(made_, ElementsAre("a0", "a1"));
}

TEST_F(WarmPoolTest, AFailureIsToldAndNotTriedAgainAtOnce) {
  fails_ = true;
  fill({{"a", 1}});
  wait_until([&] { return failures_ == 1; });
  on_loop([&](net::Task& task) { task.sleep(std::chrono::milliseconds(300)); });
  EXPECT_EQ(failures_, 1);
}

TEST_F(WarmPoolTest, WhenItStopsAllAreDiscarded) {
  fill({{"a", 3}});
  wait_until([&] { return ready_["a"] == 3; });
  on_loop([&](net::Task& task) { pool_->stop(task); });
  EXPECT_EQ(discarded_, 3);
  EXPECT_FALSE(take("a"));
}

}  // namespace
}  // namespace paddock::engine
