#include "engine/live/gate_events.h"

#include <gtest/gtest.h>

#include <future>

namespace paddock::engine {
namespace {

class GateEventsTest : public ::testing::Test {
 protected:
  static model::EgressEvent event_of(const char* sandbox, const std::string& host) {
    model::EgressEvent event;
    event.sandbox = model::SandboxId::from_entropy(sandbox);
    event.host = host;
    return event;
  }
  // What was posted before it has run by then.
  void settle() {
    std::promise<void> done;
    loop_.post([&] { done.set_value(); });
    done.get_future().wait();
  }

  std::vector<std::string> told_;
  std::map<model::SandboxId, uint64_t> more_;
  net::Loop loop_;
  GateEvents events_{loop_,
                     {[this](const model::EgressEvent& event) { told_.push_back(event.host); },
                      [this](const model::SandboxId& id, uint64_t count) { more_[id] += count; }}};
};

TEST_F(GateEventsTest, AreToldInTheirOrder) {
  events_.add(event_of("12345678", "a"), 0);
  events_.add(event_of("87654321", "b"), 0);
  events_.add(event_of("12345678", "c"), 0);
  settle();
  EXPECT_EQ(told_, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(more_.empty());
}

TEST_F(GateEventsTest, OfASandboxThatAsksTooOftenOnlyTheNumberIsTold) {
  for (uint64_t i = 0; i < GateEvents::kMost + 7; ++i) events_.add(event_of("12345678", "a"), 1);
  events_.add(event_of("87654321", "another's"), 2);
  settle();
  ASSERT_EQ(told_.size(), GateEvents::kMost + 1);
  EXPECT_EQ(told_.back(), "another's");
  events_.add(event_of("12345678", "later"), GateEvents::kWindowMs + 2);
  settle();
  EXPECT_EQ(told_.back(), "later");
  ASSERT_EQ(more_.size(), 1u);
  EXPECT_EQ(more_.begin()->second, 7u);
}

}  // namespace
}  // namespace paddock::engine
