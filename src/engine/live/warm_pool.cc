#include "engine/live/warm_pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "sys/clock.h"

namespace paddock::engine {
namespace {

constexpr std::chrono::milliseconds kLook{50};  // for room, and for the end of a wait
constexpr int64_t kAfterFailureMs = 10'000;

}  // namespace

WarmPool::WarmPool(net::Loop& loop, Sizes sizes, Hooks hooks)
    : loop_(loop), sizes_(std::move(sizes)), hooks_(std::move(hooks)), changed_(loop) {
  std::erase_if(sizes_, [](const auto& size) { return size.second == 0; });
}

void WarmPool::start() {
  if (sizes_.empty()) return;
  for (const auto& [name, size] : sizes_) tell(name);
  stopped_ = std::make_unique<net::Event>(loop_);
  loop_.spawn([this](net::Task& task) {
    keep_filled(task);
    stopped_->set();
  });
}

void WarmPool::tell(const std::string& template_name) {
  hooks_.on_changed(template_name, ready(template_name).size());
}

void WarmPool::keep_filled(net::Task& task) {
  while (!stopping_ && !loop_.is_ending()) {
    if (!fill_one(task) && !stopping_) (void)changed_.wait_for(task, kLook);
  }
}

bool WarmPool::fill_one(net::Task& task) {
  if (!hooks_.has_room()) return false;
  const int64_t now_ms = sys::monotonic_us() / 1000;
  const auto missing = std::ranges::find_if(sizes_, [&](const auto& size) {
    return ready(size.first).size() < size.second && not_before_ms_[size.first] <= now_ms;
  });
  if (missing == sizes_.end()) return false;
  const std::string& name = missing->first;
  auto made = hooks_.make(task, name);
  if (!made.ok()) {
    not_before_ms_[name] = sys::monotonic_us() / 1000 + kAfterFailureMs;
    hooks_.on_failed(name, made.error());
    return false;
  }
  if (stopping_) {
    hooks_.discard(task, std::move(made->second));
    return false;
  }
  ready(name).push_back(std::move(*made));
  tell(name);
  return true;
}

std::optional<Warm> WarmPool::take(const std::string& template_name) {
  if (!keeps(template_name) || ready(template_name).empty()) return std::nullopt;
  Warm warm = std::move(ready(template_name).front().second);
  ready(template_name).pop_front();
  tell(template_name);
  return warm;
}

std::optional<Warm> WarmPool::remove(const std::string& id) {
  for (auto& [name, ready] : ready_) {
    const auto found = std::ranges::find(ready, id, &std::pair<std::string, Warm>::first);
    if (found == ready.end()) continue;
    Warm warm = std::move(found->second);
    ready.erase(found);
    tell(name);
    return warm;
  }
  return std::nullopt;
}

void WarmPool::stop(net::Task& task) {
  stopping_ = true;
  changed_.notify_all();
  if (stopped_) stopped_->wait_surely(task);
  for (const auto& [name, size] : sizes_) {
    while (auto warm = take(name)) hooks_.discard(task, std::move(*warm));
  }
}

}  // namespace paddock::engine
