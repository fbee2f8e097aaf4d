// What the gate decides for live sandboxes, from its threads to the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "model/egress_event.h"
#include "net/task.h"

namespace paddock::engine {

// A sandbox decides how often it asks, and what is told of it is kept for good: beyond kMost in a
// window only the number is told. Destroyed, it tells nothing any more; before the loop.
class GateEvents {
 public:
  static constexpr uint64_t kMost = 500;
  static constexpr int64_t kWindowMs = 10'000;

  struct Telling {
    std::function<void(const model::EgressEvent&)> one;
    std::function<void(const model::SandboxId&, uint64_t count)> more;  // that were not told
  };
  // `telling` is called on the loop's thread.
  GateEvents(net::Loop& loop, Telling telling);
  ~GateEvents();

  // Thread-safe.
  void add(const model::EgressEvent& event, int64_t now_ms);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace paddock::engine
