// Finds the hidden entries of a workspace, looking again only at directories that changed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"
#include "view/hide/hide_patterns.h"
#include "view/hide/mask_index.h"

namespace paddock::view {

struct MaskScan {
  MaskIndex index;
  // By directory of `index`: its entries were read in this scan.
  std::vector<bool> was_read;
};

struct ScanOptions {
  // Of the last scan with the same patterns; nullptr: read everything.
  const MaskIndex* previous = nullptr;
  // Directory times of this file system say that entries changed. Otherwise everything is read.
  bool trust_times = true;
  // Time stamps have the granularity of the kernel's tick, or of the file system (FAT: 2 s): a
  // change within it after the reading would not be seen. A directory that young is read again next
  // time.
  int64_t settle_ns = 2'000'000'000;
};

// nullopt: nothing changed since `previous`, which stays right. Symlinks are not followed, `.git`
// is not entered. A directory that cannot be read, or lies too deep, is hidden as a whole: what its
// owner closed, the sandbox could open again. resource_exhausted beyond some millions of entries.
Result<std::optional<MaskScan>> scan_workspace(const sys::DirFd& root, const HidePatterns& patterns,
                                               const ScanOptions& options);

}  // namespace paddock::view
