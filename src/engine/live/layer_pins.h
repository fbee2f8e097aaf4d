// Layers that are in use by something under way, and not yet on record as such.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>

namespace paddock::engine {

// Used on one thread; outlives what it hands out.
class LayerPins {
 public:
  // Until the last copy of the answer goes.
  using Hold = std::shared_ptr<void>;
  Hold hold(const std::string& layer) {
    held_.insert(layer);
    return {nullptr, [this, layer](void*) { held_.erase(held_.find(layer)); }};
  }
  const std::multiset<std::string>& held() const { return held_; }

 private:
  std::multiset<std::string> held_;
};

}  // namespace paddock::engine
