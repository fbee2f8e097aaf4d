// The mask of a workspace: brought up to date before a command, kept while one uses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/paths.h"
#include "model/settings.h"
#include "sys/fd.h"

namespace paddock::view {

struct Mask {
  model::HostPath layer;            // goes between the view's layers and the host directory
  std::vector<std::string> hidden;  // relative paths, sorted
  size_t foreign_owners = 0;  // directories of it that show as the caller's, not as their owner's
  sys::FileFd use;            // held while the layer may be mounted
};

// Finds what is hidden now and makes the layer so, below home/masks. Runs on one workspace wait for
// each other here; a layer in use is changed under its mounts in a safe order. nullopt: no pattern
// hides anything. Takes about 2 µs a directory when nothing changed.
Result<std::optional<Mask>> update_mask(const model::HostPath& home,
                                        const model::HostPath& workspace,
                                        const model::FileRules& rules);

// Removes masks that nobody uses and that were not used for so long, or whose workspace is gone.
Status collect_masks(const model::HostPath& home, uint64_t keep_seconds);

}  // namespace paddock::view
