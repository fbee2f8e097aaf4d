// Finds what the layers touch, at a cost that follows the touched paths and not the tree.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "view/changes/change_object.h"
#include "view/changes/change_stack.h"

namespace paddock::view {

inline constexpr size_t kNoLayer = std::numeric_limits<size_t>::max();
inline constexpr size_t kMaxTouched = 1u << 20;

// A path that a layer names, or that went with a directory above it.
struct Touched {
  std::string path;
  Object after;             // absent: deleted
  Object host;              // as it is now; absent when it was masked from the view
  size_t layer = kNoLayer;  // which holds `after`
  bool copied_up = false;   // overlayfs made it from a lower object of this name
  bool hidden = false;      // the host has something here, or above, that was masked from the view
  bool git = false;         // at or below a .git
  bool went_with_directory = false;  // no layer names it
};

struct Walked {
  std::vector<Touched> touched;      // sorted by path
  std::vector<std::string> skipped;  // sorted; what a change set cannot carry
};

// Into directories that the host does not have: for the change set, not for the bases.
enum class NewDirectories { enter, stop };

// resource_exhausted past kMaxTouched paths.
Result<Walked> walk_stack(const OpenStack& stack, NewDirectories new_directories);

}  // namespace paddock::view
