// The values that the parts of an apply hand to each other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/change.h"
#include "model/paths.h"
#include "view/changes/change_object.h"
#include "view/workspace.h"

namespace paddock::view {

// Where the bytes of a wanted regular file come from.
enum class Content { view, host, merged };

// What the host shall have at a path.
struct Wanted {
  model::FileState state;  // absent: nothing. Of the mode only 0777 counts
  Content content = Content::view;
  std::string merged;
};

struct Verdict {
  ApplyResult result = ApplyResult::applied;
  std::string reason;
  std::optional<Wanted> wanted;  // none: the host stays as it is here
};

enum class OpKind {
  set_directory,  // mode and attributes, in place
  remove,         // the host's object goes to the slot
  create,         // the slot's object goes to a name that is free
  exchange,       // they change places
};

// The host's object before an op, as it must come out.
struct Expected {
  model::FileType type = model::FileType::absent;
  uint64_t ino = 0;
  uint64_t size = 0;
  mode_t mode = 0;
  int64_t mtime_ns = 0;
  std::string target;
  std::string digest;  // set where times are too close to tell one version from the next
};

struct DirectoryState {
  mode_t mode = 0;
  std::map<std::string, std::string> xattrs;
  bool operator==(const DirectoryState&) const = default;
};

// One step on the host tree. Whether it was done is told by its slot alone: a rename is atomic.
struct Op {
  OpKind kind = OpKind::create;
  std::string path;
  uint64_t slot = 0;             // its name in the staging directory; unused for set_directory
  Expected expected;             // remove, exchange
  Expected staged;               // create, exchange: what staging put into the slot
  DirectoryState before, after;  // set_directory
};

// Everything that finishing or undoing an apply needs. Written once, synced: the commit point.
struct Journal {
  std::string tag;
  model::HostPath host;
  uint64_t host_ino = 0;
  model::HostPath stage;  // the staging directory
  model::HostPath bases;  // where `rebase` is parked
  std::string rebase;     // parked base segment; empty: none
  std::vector<Op> ops;    // in order
};

}  // namespace paddock::view
