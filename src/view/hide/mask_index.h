// What was found of a workspace when its mask was last brought up to date: every directory with its
// identity, and the hidden entries in it. Kept in one file, so that the next run looks again only
// at directories that changed.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddock::view {

// Adding, removing or renaming an entry changes the directory's mtime and ctime; another directory
// in its place has another inode.
struct DirIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;  // 0: too young when it was read to be told from a later change

  static DirIdentity of(const struct stat& st);
  bool operator==(const DirIdentity&) const = default;
};

struct IndexedName {
  uint32_t offset = 0;  // into MaskIndex::names
  uint32_t length = 0;
  bool operator==(const IndexedName&) const = default;
};

// It or a directory below it has hidden entries: the mask layer has the directory too.
constexpr uint32_t kMirrored = 1;
// The mask layer's directory could not be given its owner.
constexpr uint32_t kForeignOwner = 2;

// Preorder: a directory is followed by its `descendants` records, children sorted by name.
struct IndexedDir {
  DirIdentity identity;
  IndexedName name;
  uint32_t descendants = 0;
  uint32_t first_hidden = 0;  // into MaskIndex::hidden
  uint32_t hidden_count = 0;
  uint32_t flags = 0;  // kMirrored, kForeignOwner

  bool is_mirrored() const { return (flags & kMirrored) != 0; }
  bool operator==(const IndexedDir&) const = default;
};

struct MaskIndex {
  std::vector<IndexedDir> dirs;     // dirs[0] is the workspace, with an empty name
  std::vector<IndexedName> hidden;  // sorted by name within a directory
  std::string names;

  std::string_view text(const IndexedName& name) const {
    return std::string_view(names).substr(name.offset, name.length);
  }
  bool operator==(const MaskIndex&) const = default;
};

// The file's bytes, with a checksum over all of them. Only this host reads it: native byte order.
std::string encode(const MaskIndex& index);
// data_corrupt when any bit is not as written, or a record points outside: every number of a
// decoded index is in range.
Result<MaskIndex> decode_mask_index(std::string_view bytes);

// Paths relative to the workspace of all hidden entries, sorted.
std::vector<std::string> hidden_paths(const MaskIndex& index);

}  // namespace paddock::view
