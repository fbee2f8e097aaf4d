// What one API key may hold at a time. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace paddock::service {

// 0: no limit. Sums are of limits given, not of what is used: what was promised can be had.
struct Quota {
  uint64_t sandboxes = 0;
  uint64_t memory_bytes = 0;
  uint64_t disk_bytes = 0;
  double cpus = 0;
  bool operator==(const Quota&) const = default;
};

// What a caller's sandboxes hold together.
struct Holding {
  uint64_t sandboxes = 0;
  uint64_t memory_bytes = 0;
  uint64_t disk_bytes = 0;
  double cpus = 0;

  void add(const Holding& other);
};

// resource_exhausted names the limit, what is held and what is asked for.
Status check_quota(const Quota& quota, const Holding& held, const Holding& asked);

}  // namespace paddock::service
