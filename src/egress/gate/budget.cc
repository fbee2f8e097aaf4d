#include "egress/gate/budget.h"

#include <fmt/core.h>

namespace paddock::egress {

Error Meter::exhausted(std::string_view what) const {
  return Error(Code::resource_exhausted,
               fmt::format("the budget of rule {} is used up: {}", name_, what));
}

Status Meter::count_one() {
  if (!budget_.rate) return {};
  std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - window_ >= std::chrono::seconds(budget_.rate->seconds)) {
    window_ = now;
    in_window_ = 0;
  }
  if (in_window_ >= budget_.rate->count) {
    return exhausted(fmt::format("{} in {} s", budget_.rate->count, budget_.rate->seconds));
  }
  ++in_window_;
  return {};
}

Status Meter::begin_stream() {
  const uint32_t now = ++streams_;
  if (!budget_.streams || now <= *budget_.streams) return {};
  --streams_;
  return exhausted(fmt::format("{} streams at one time", *budget_.streams));
}

Status Meter::add_request(uint64_t bytes) {
  const uint64_t now = request_bytes_ += bytes;
  if (!budget_.request_bytes || now <= *budget_.request_bytes) return {};
  return exhausted(fmt::format("{} bytes sent", *budget_.request_bytes));
}

Status Meter::add_response(uint64_t bytes) {
  const uint64_t now = response_bytes_ += bytes;
  if (!budget_.response_bytes || now <= *budget_.response_bytes) return {};
  return exhausted(fmt::format("{} bytes received", *budget_.response_bytes));
}

Result<Metering> Metering::begin(std::vector<std::shared_ptr<Meter>> meters) {
  Metering metering;
  for (const std::shared_ptr<Meter>& meter : meters) {
    PD_TRY(meter->begin_stream());
    metering.meters_.push_back(meter);
  }
  for (const std::shared_ptr<Meter>& meter : metering.meters_) PD_TRY(meter->count_one());
  return metering;
}

Metering::~Metering() {
  for (const std::shared_ptr<Meter>& meter : meters_) meter->end_stream();
}

Status Metering::add_request(uint64_t bytes) {
  for (const std::shared_ptr<Meter>& meter : meters_) PD_TRY(meter->add_request(bytes));
  return {};
}

Status Metering::add_response(uint64_t bytes) {
  for (const std::shared_ptr<Meter>& meter : meters_) PD_TRY(meter->add_response(bytes));
  return {};
}

}  // namespace paddock::egress
