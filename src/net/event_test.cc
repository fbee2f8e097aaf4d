#include "net/event.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "net/testing/on_loop.h"

namespace paddock::net {
namespace {

using namespace std::chrono_literals;
using testing::run_on;

TEST(Event, WakesEveryWaiterAndStaysSet) {
  Loop loop;
  Event event(loop);
  auto woken = std::make_shared<int>(0);
  for (int i = 0; i < 3; ++i) {
    loop.spawn([&, woken](Task& task) {
      event.wait(task);
      ++*woken;
    });
  }
  const int seen = run_on(loop, [&, woken](Task& task) {
    task.yield();
    event.set();
    event.wait(task);
    for (int i = 0; i < 5; ++i) task.yield();
    return *woken;
  });
  EXPECT_EQ(seen, 3);
}

TEST(Event, WaitingEndsWithItsTime) {
  Loop loop;
  Event never(loop);
  EXPECT_EQ(run_on(loop, [&](Task& task) { return never.wait_for(task, 5ms); }),
            Event::Outcome::timed_out);
  EXPECT_EQ(run_on(loop,
                   [&](Task& task) {
                     loop.spawn([&](Task&) { never.set(); });
                     return never.wait_for(task, 10s);
                   }),
            Event::Outcome::set);
}

TEST(Deadline, IsSilentOnceDisarmed) {
  Loop loop;
  int calls = 0;
  run_on(loop, [&](Task& task) {
    Deadline expires(loop, 1ms, [&] { ++calls; });
    {
      Deadline gone(loop, 1ms, [&] { calls += 100; });
    }
    Deadline disarmed(loop, 1ms, [&] { calls += 100; });
    EXPECT_EQ(disarmed.disarm(), Deadline::State::armed);
    task.sleep(20ms);
    EXPECT_EQ(expires.disarm(), Deadline::State::expired);
  });
  EXPECT_EQ(calls, 1);
}

TEST(Turnstile, LetsOneInAtATimeInOrder) {
  Loop loop;
  Turnstile turnstile(loop);
  auto order = std::make_shared<std::vector<int>>();
  auto left = std::make_shared<Event>(loop);
  for (int i = 0; i < 4; ++i) {
    loop.spawn([&, i, order, left](Task& task) {
      auto turn = turnstile.enter(task);
      order->push_back(i);
      task.sleep(1ms);
      order->push_back(i);
      if (i == 3) left->set();
    });
  }
  run_on(loop, [&](Task& task) { left->wait(task); });
  EXPECT_EQ(*order, (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(Loop, EndsWhatStillWaits) {
  auto alive = std::make_shared<int>(1);
  {
    Loop loop;
    auto forever = std::make_shared<Event>(loop);
    loop.spawn([alive, forever](Task& task) { forever->wait(task); });
    run_on(loop, [](Task& task) { task.yield(); });
  }
  EXPECT_EQ(alive.use_count(), 1);
}

}  // namespace
}  // namespace paddock::net
