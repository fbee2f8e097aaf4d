#include "engine/live/gate_events.h"

#include <utility>

namespace paddock::engine {

struct GateEvents::State {
  struct Window {
    int64_t began_ms = 0;
    uint64_t told = 0;
    uint64_t untold = 0;
  };

  State(net::Loop& to, Telling how) : loop(to), telling(std::move(how)) {}

  std::mutex mutex;
  net::Loop& loop;
  Telling telling;
  bool is_over = false;
  std::map<model::SandboxId, Window> windows;
  std::vector<model::EgressEvent> waiting;
  std::map<model::SandboxId, uint64_t> untold;

  // Windows that have passed, with what was not told in them.
  void close_windows(int64_t now_ms) {
    std::erase_if(windows, [&](const auto& item) {
      const auto& [id, window] = item;
      if (now_ms - window.began_ms < kWindowMs) return false;
      if (window.untold > 0) untold[id] += window.untold;
      return true;
    });
  }

  void tell() {
    std::vector<model::EgressEvent> events;
    std::map<model::SandboxId, uint64_t> counts;
    {
      std::lock_guard lock(mutex);
      if (is_over) return;
      events.swap(waiting);
      counts.swap(untold);
    }
    for (const auto& [id, count] : counts) telling.more(id, count);
    for (const model::EgressEvent& event : events) telling.one(event);
  }
};

GateEvents::GateEvents(net::Loop& loop, Telling telling)
    : state_(std::make_shared<State>(loop, std::move(telling))) {}

GateEvents::~GateEvents() {
  std::lock_guard lock(state_->mutex);
  state_->is_over = true;
}

void GateEvents::add(const model::EgressEvent& event, int64_t now_ms) {
  State& state = *state_;
  std::lock_guard lock(state.mutex);
  if (state.is_over) return;
  const bool was_empty = state.waiting.empty() && state.untold.empty();
  state.close_windows(now_ms);
  State::Window& window =
      state.windows.try_emplace(event.sandbox, State::Window{now_ms}).first->second;
  if (window.told == kMost) {
    ++window.untold;
  } else {
    ++window.told;
    state.waiting.push_back(event);
  }
  const bool has_news = !state.waiting.empty() || !state.untold.empty();
  if (was_empty && has_news) state.loop.post([kept = state_] { kept->tell(); });
}

}  // namespace paddock::engine
