#include "engine/live/disk_watch.h"

#include <algorithm>
#include <chrono>

#include "sys/clock.h"
#include "view/layer_disk.h"

namespace paddock::engine {
namespace {

constexpr std::chrono::milliseconds kPause{500};
constexpr int64_t kLeastUs = 1'000'000;
constexpr int64_t kShare = 20;
constexpr int64_t kQuickUs = 250'000;

}  // namespace

void DiskWatch::start() {
  if (done_) return;
  stop_ = std::make_unique<net::Event>(loop_);
  done_ = std::make_unique<net::Event>(loop_);
  loop_.spawn([this](net::Task& task) {
    watch(task);
    done_->set();
  });
}

void DiskWatch::stop(net::Task& task) {
  if (!done_) return;
  stop_->set();
  done_->wait_surely(task);
  stop_.reset();
  done_.reset();
}

void DiskWatch::watch(net::Task& task) {
  while (!stop_->is_set() && !loop_.is_ending()) {
    stop_->wait_for(task, kPause);
    const auto sandboxes = hooks_.sandboxes();
    std::erase_if(seen_, [&](const auto& item) {
      return std::ranges::none_of(sandboxes, [&](const auto& s) { return s->id() == item.first; });
    });
    for (const auto& sandbox : sandboxes) {
      if (stop_->is_set()) return;
      if (sandbox->is_running() && seen_[sandbox->id()].due_us <= sys::monotonic_us()) {
        const uint64_t bytes = measure(task, *sandbox);
        if (bytes > sandbox->setup().limits.disk_bytes) hooks_.on_over(*sandbox, bytes);
      }
    }
  }
}

uint64_t DiskWatch::used_by(net::Task& task, LiveSandbox& sandbox) {
  if (seen_[sandbox.id()].took_us > kQuickUs) return sandbox.last_disk_used();
  return measure(task, sandbox);
}

uint64_t DiskWatch::measure(net::Task& task, LiveSandbox& sandbox) {
  const model::HostPath directory = hooks_.directory_of(sandbox.info().layer);
  std::vector<model::HostPath> uppers;
  if (sandbox.workspace()) uppers = sandbox.workspace()->uppers;
  int64_t took_us = 0;
  const uint64_t bytes = worker_.run(task, [&] {
    const int64_t began_us = sys::monotonic_us();
    uint64_t used = view::disk_use(directory);
    for (const model::HostPath& upper : uppers) used += view::disk_use(upper);
    took_us = sys::monotonic_us() - began_us;
    return used;
  });
  seen_[sandbox.id()] = {sys::monotonic_us() + std::max(kLeastUs, kShare * took_us), took_us};
  sandbox.note_disk_used(bytes);
  return bytes;
}

}  // namespace paddock::engine
