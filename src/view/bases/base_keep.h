// Keeps the bytes of host files for bases, within bounds.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/fd.h"
#include "view/bases/base_store.h"

namespace paddock::view {

// no: the digest alone, and only where it costs little. For deleted files, whose bytes no merge
// needs.
enum class KeepBytes { no, yes };

// One per segment: it counts what the segment takes. Blocks shared with the host's file cost
// nothing and are not counted.
class BaseKeeper {
 public:
  // Reads the regular file `path` below `root` that `record.object` describes and fills in its
  // digest and blob, as far as the bounds allow. When the file is changed meanwhile, or cannot be
  // read, the record becomes `newer`.
  Status keep(const sys::DirFd& root, const std::string& path, KeepBytes bytes, BaseWriter& writer,
              BaseRecord& record);

 private:
  Status keep_open(const sys::Fd& fd, KeepBytes bytes, BaseWriter& writer, BaseRecord& record);
  Status keep_small(const sys::Fd& fd, BaseWriter& writer, BaseRecord& record);
  Status keep_large(const sys::Fd& fd, BaseWriter& writer, BaseRecord& record);

  uint64_t stored_ = 0;
  uint64_t hashed_ = 0;
  uint64_t hashed_of_deleted_ = 0;
};

// Same inode, size, times and mode: nothing was written to it in between.
bool same_identity(const Object& a, const Object& b);

// The object was changed so lately that a later version may carry the same times: file systems
// stamp with the time of the last tick.
bool may_share_times(const Object& object);

}  // namespace paddock::view
