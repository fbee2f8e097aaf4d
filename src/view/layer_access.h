// What a sandbox closed to its own user (chmod 0), opened for as long as its layers are read.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/paths.h"

namespace paddock::view {

// Widens the modes of files and directories in the layers that the caller owns and may not read,
// and gives them back when it goes. Nothing to do for root. Killed meanwhile, they stay widened. A
// layer that is still written to is left as it is where it changes under our hands.
class LayerAccess {
 public:
  static Result<LayerAccess> open(const std::vector<model::HostPath>& layers);

  LayerAccess() = default;
  LayerAccess(LayerAccess&&) = default;
  LayerAccess& operator=(LayerAccess&& other) noexcept {
    widened_.swap(other.widened_);
    modes_.swap(other.modes_);
    return *this;
  }
  ~LayerAccess();

  // The mode that the sandbox gave the object with this inode, when that is not the one it has now.
  mode_t mode_of(uint64_t inode, mode_t now) const;

 private:
  struct Widened {
    model::HostPath layer;
    std::string path;
    mode_t mode;
  };

  std::vector<Widened> widened_;  // parents before what is in them
  std::map<uint64_t, mode_t> modes_;
};

}  // namespace paddock::view
