// Copies of file contents that share blocks where the file system can, and keep holes.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

enum class Cloned { yes, no };

// Makes `to`, an empty regular file open for writing, hold the bytes of `from`, open for reading:
// by FICLONE, else by data range, so that a hole of `from` is a hole of `to`.
Status copy_contents(const Fd& from, const Fd& to);

// Shares all of `from` with `to` at `offset`, a multiple of the file system's block size at or past
// the end of `to` (FICLONERANGE). `no` where the two files cannot share blocks.
Result<Cloned> clone_into(const Fd& from, const Fd& to, uint64_t offset);

}  // namespace paddock::sys
