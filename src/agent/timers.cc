#include "agent/timers.h"

#include <algorithm>

namespace paddock::agent {

Result<Timers> Timers::open() {
  return Timers(PD_TRY(sys::TimerFd::open()));
}

void Timers::set_in_ms(Key key, uint64_t ms) {
  constexpr uint64_t kMaxMs = 1ULL << 42;  // a century; keeps the sum in range
  due_[key] = sys::boot_time_ns() + static_cast<int64_t>(std::min(ms, kMaxMs)) * 1'000'000;
  arm();
}

void Timers::cancel(Key key) {
  // The descriptor may still fire for it, and finds nothing due.
  due_.erase(key);
}

void Timers::cancel_all_of(uint32_t command) {
  std::erase_if(due_, [&](const auto& entry) { return entry.first.command == command; });
}

std::vector<Timers::Key> Timers::take_due() {
  timer_.clear_event();
  armed_at_ = 0;
  std::vector<Key> keys;
  const int64_t now = sys::boot_time_ns();
  std::erase_if(due_, [&](const auto& entry) {
    if (entry.second > now) return false;
    keys.push_back(entry.first);
    return true;
  });
  arm();
  return keys;
}

void Timers::arm() {
  if (due_.empty()) return;
  auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  const int64_t earliest = std::min_element(due_.begin(), due_.end(), by_time)->second;
  if (armed_at_ != 0 && armed_at_ <= earliest) return;
  armed_at_ = earliest;
  timer_.set(earliest);
}

}  // namespace paddock::agent
