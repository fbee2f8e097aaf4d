// What a sandbox used at the times when somebody asked. Bounded; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace paddock::engine {

struct UsageSample {
  int64_t wall_ms = 0;
  double cpu_percent = 0;  // of one processor
  uint64_t memory_bytes = 0;
};

class UsageHistory {
 public:
  // The oldest goes when there are more.
  static constexpr size_t kMaxSamples = 1000;

  void add(const UsageSample& sample) {
    samples_.push_back(sample);
    if (samples_.size() > kMaxSamples) samples_.pop_front();
  }
  // Of whole seconds `from` to `to`, both included, in order of time.
  std::vector<UsageSample> between(int64_t from_seconds, int64_t to_seconds) const {
    std::vector<UsageSample> found;
    for (const UsageSample& sample : samples_) {
      const int64_t second = sample.wall_ms / 1000;
      if (second >= from_seconds && second <= to_seconds) found.push_back(sample);
    }
    return found;
  }

 private:
  std::deque<UsageSample> samples_;
};

}  // namespace paddock::engine
