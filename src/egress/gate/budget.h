// What a rule of one sandbox may still use: bytes, connections, requests.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "egress/rules/policy.h"

namespace paddock::egress {

// The use of one rule. Thread-safe: connections of a sandbox may run on several threads.
class Meter {
 public:
  explicit Meter(const Rule& rule) : name_(rule.name()), budget_(rule.source().budget) {}

  // A connection or a request. resource_exhausted: too many at once, or in the time.
  Status count_one();
  Status begin_stream();
  void end_stream() { --streams_; }
  Status add_request(uint64_t bytes);
  Status add_response(uint64_t bytes);

 private:
  Error exhausted(std::string_view what) const;

  std::string name_;
  model::EgressBudget budget_;
  std::atomic<uint64_t> request_bytes_{0}, response_bytes_{0};
  std::atomic<uint32_t> streams_{0};
  std::mutex mutex_;  // of the window
  std::chrono::steady_clock::time_point window_{};
  uint32_t in_window_ = 0;
};

// The meters of the rules that let one connection or request through. Holds a stream of each while
// it lives.
class Metering {
 public:
  Metering() = default;
  Metering(Metering&&) noexcept = default;
  Metering& operator=(Metering&&) noexcept = default;
  ~Metering();

  static Result<Metering> begin(std::vector<std::shared_ptr<Meter>> meters);
  Status add_request(uint64_t bytes);
  Status add_response(uint64_t bytes);

 private:
  std::vector<std::shared_ptr<Meter>> meters_;  // whose stream is held
};

}  // namespace paddock::egress
