// Walks a directory tree that somebody hostile may have made: as deep as the disk allows, full of
// symlinks, changing meanwhile.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

enum class Descend { no, yes };

struct WalkEntry {
  const DirFd& parent;      // holds the entry
  const std::string& name;  // one component
  const std::string& path;  // from the root of the walk, "a/b/name"
  const struct stat& st;    // lstat
};

// A directory that its owner may not list or search (chmod 0): an error, or its mode is widened
// while the walk is in it. A caller who owns neither gets the error.
enum class Closed { error, open };

struct TreeVisitor {
  // Called for every entry; the answer counts for directories only.
  std::function<Result<Descend>(const WalkEntry&)> enter;
  // Called for a directory that was descended into, after its entries. May be empty.
  std::function<Status(const WalkEntry&)> leave;
  Closed closed = Closed::error;
};

// Depth first, entries by name, the root itself is not visited. Follows no symlink, does not
// descend into other file systems, holds a constant number of descriptors and no stack per level.
// Ends with the first error of the visitor; entries that vanish are passed over; a directory that
// was moved away under the walk is failed_precondition.
Status walk_tree(const DirFd& root, const TreeVisitor& visitor);

// Opens a regular file of `parent` (no symlink) that the caller owns even where its mode denies
// that: the mode is widened for the moment of opening. For layers, which hold what a sandbox made.
Result<Fd> open_closed_file_at(const DirFd& parent, const std::string& name, int flags);

}  // namespace paddock::sys
