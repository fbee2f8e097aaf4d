// Waiting for a state that changes again and again.
#pragma once

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "net/event.h"

namespace paddock::net {

// Wakes who waits now; who comes later waits for the next time. Waits end early, too (when the loop
// ends): look at the state, not at the wake-up. Used on its loop's thread. May be destroyed while
// somebody waits only if that one does not touch it afterwards.
class Condition {
 public:
  explicit Condition(Loop& loop) : loop_(loop) {}

  void notify_all() {
    for (auto& event : std::exchange(waiting_, {})) event->set();
  }
  void wait(Task& task) { join()->wait(task); }
  Event::Outcome wait_for(Task& task, std::chrono::milliseconds time) {
    auto event = join();
    auto outcome = event->wait_for(task, time);
    if (outcome == Event::Outcome::timed_out) std::erase(waiting_, event);
    return outcome;
  }

 private:
  std::shared_ptr<Event> join() {
    waiting_.push_back(std::make_shared<Event>(loop_));
    return waiting_.back();
  }

  Loop& loop_;
  std::vector<std::shared_ptr<Event>> waiting_;
};

}  // namespace paddock::net
