// The mask layer: a directory tree that lies between the layers of a view and its host directory,
// with a whiteout over every hidden entry, and nothing else.
#pragma once

#include "base/result.h"
#include "model/paths.h"
#include "sys/fd.h"
#include "view/hide/hide_patterns.h"
#include "view/hide/mask_scan.h"

namespace paddock::view {

struct MaskPlanting {
  const sys::DirFd& host;        // the workspace
  model::HostPath directory;     // holds `tree`, the layer, and what is under construction; exists
  const HidePatterns& patterns;  // for the names to cover before they exist
  MaskScan& scan;                // gets kForeignOwner where only root could give the owner
};

// Makes the layer what the scan says. Overlays may be mounted on it meanwhile: a whiteout is there
// before anything else of its directory, and goes only when its file is gone. Directories look like
// the host's. May be called again after it was cut. One caller at a time.
Status plant_mask(const MaskPlanting& planting);

}  // namespace paddock::view
