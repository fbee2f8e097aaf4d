// The sum of what sandboxes write to the disk, where the kernel keeps no quota: looked at again and
// again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/live/live_sandbox.h"
#include "model/paths.h"
#include "net/event.h"
#include "net/worker.h"

namespace paddock::engine {

// Used on its loop's thread. Between start() and stop() it measures each running sandbox, those
// with many files less often, so that looking costs a twentieth of one processor at most.
class DiskWatch {
 public:
  struct Hooks {
    std::function<std::vector<std::shared_ptr<LiveSandbox>>()> sandboxes;
    std::function<model::HostPath(const std::string& layer)> directory_of;
    std::function<void(LiveSandbox&, uint64_t bytes)> on_over;  // beyond its limit
  };
  DiskWatch(net::Loop& loop, Hooks hooks) : loop_(loop), hooks_(std::move(hooks)) {}

  void start();
  // Measured anew where the last time was short.
  uint64_t used_by(net::Task& task, LiveSandbox& sandbox);
  // Returns when nothing is under way any more.
  void stop(net::Task& task);

 private:
  void watch(net::Task& task);
  uint64_t measure(net::Task& task, LiveSandbox& sandbox);

  net::Loop& loop_;
  Hooks hooks_;
  // Between start() and stop(): the loop may go before this.
  std::unique_ptr<net::Event> stop_;
  std::unique_ptr<net::Event> done_;
  struct Seen {
    int64_t due_us = 0;
    int64_t took_us = 0;
  };
  std::map<std::string, Seen> seen_;
  net::Worker worker_;
};

}  // namespace paddock::engine
