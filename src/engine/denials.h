// Gathers what a sandbox was refused, from the agent and from the backend, as bounded data.
#pragma once

#include <cstdint>
#include <vector>

#include "model/denial.h"
#include "wire/agent.pb.h"

namespace paddock::engine {

inline constexpr size_t kMaxDenials = 256;

// Merges equal records. Bytes from the sandbox are bounded here and kept as they are: whoever
// prints them escapes.
class Denials {
 public:
  // The record, when it is one that was not there; valid until the next call.
  const model::Denial* add(const wire::Denied& denied);
  const model::Denial* add(model::Denial denial);

  const std::vector<model::Denial>& records() const { return records_; }
  std::vector<model::Denial> take_records() { return std::move(records_); }
  uint64_t dropped() const { return dropped_by_us_ + dropped_inside_; }

 private:
  std::vector<model::Denial> records_;
  uint64_t dropped_by_us_ = 0;
  uint64_t dropped_inside_ = 0;
};

}  // namespace paddock::engine
