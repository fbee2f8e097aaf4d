// Locks on numbers: one file, one byte per number (open file description locks, fcntl(2)).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

struct LockedNumber {
  uint32_t number = 0;
  FileFd lock;  // held while this descriptor or an inherited copy of it is open
};

// Locks a free number below `count`, tried from a random one on, in the file `path` (created 0600).
// resource_exhausted: all are taken.
Result<LockedNumber> lock_free_number(const std::string& path, uint32_t count);

}  // namespace paddock::sys
