// What layers take on disk, and when it is safely there.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "model/paths.h"

namespace paddock::view {

// Bytes that everything below `directory` takes. Best effort: what changes or vanishes meanwhile is
// counted or not; 0 for a missing directory.
uint64_t disk_use(const model::HostPath& directory);

// Returns when `layer`, with data, names and attributes, would survive a loss of power: file by
// file while they are few, else the whole file system (which waits for other programs' data too).
Status sync_layer(const model::HostPath& layer);
// The same for one directory's entries, or one file.
Status sync_path(const model::HostPath& path);

}  // namespace paddock::view
