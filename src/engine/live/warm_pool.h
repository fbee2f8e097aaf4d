// Sandboxes that run before anybody has asked for them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/sandbox_record.h"
#include "net/condition.h"
#include "net/event.h"

namespace paddock::engine {

class LiveSandbox;

struct Warm {
  std::shared_ptr<LiveSandbox> sandbox;
  std::shared_ptr<SandboxRecord> record;
};

// Keeps so many of each template ready, made one after another while there is room. Used on its
// loop's thread. After start() it is destroyed only when stop() has returned.
class WarmPool {
 public:
  struct Hooks {
    // By id.
    std::function<Result<std::pair<std::string, Warm>>(net::Task&,
                                                       const std::string& template_name)>
        make;
    std::function<void(net::Task&, Warm)> discard;
    // For one more, at this time.
    std::function<bool()> has_room;
    std::function<void(const std::string& template_name, const Error&)> on_failed;
    std::function<void(const std::string& template_name, size_t ready)> on_changed;
  };
  using Sizes = std::map<std::string, size_t>;  // by name of the template
  WarmPool(net::Loop& loop, Sizes sizes, Hooks hooks);

  void start();
  // Whether it keeps any of this template.
  bool keeps(const std::string& template_name) const { return sizes_.contains(template_name); }
  // The one that is ready longest. nullopt: none is.
  std::optional<Warm> take(const std::string& template_name);
  // One that ended by itself. nullopt: none of these.
  std::optional<Warm> remove(const std::string& id);
  // Discards all that are ready. Makes no more.
  void stop(net::Task& task);

 private:
  void keep_filled(net::Task& task);
  // Whether there was anything to do.
  bool fill_one(net::Task& task);
  std::deque<std::pair<std::string, Warm>>& ready(const std::string& template_name) {
    return ready_[template_name];
  }
  void tell(const std::string& template_name);

  net::Loop& loop_;
  Sizes sizes_;
  Hooks hooks_;
  std::map<std::string, std::deque<std::pair<std::string, Warm>>> ready_;
  std::map<std::string, int64_t> not_before_ms_;  // after a failure
  net::Condition changed_;
  std::unique_ptr<net::Event> stopped_;  // of the filler, once it was started
  bool stopping_ = false;
};

}  // namespace paddock::engine
