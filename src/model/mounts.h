// What the file system of a sandbox is made of, as values: image and view produce them, a backend
// of isolation turns them into mounts (or disks). Mounted in order of path depth, parents first.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/paths.h"
#include "model/settings.h"

namespace paddock::model {

// Directories of the host that hold an upper and its work directory, on one file system.
struct UpperDirs {
  HostPath upper;
  HostPath work;
};

// An overlay. `lowers` are ordered top first and may live anywhere on the host. Without `upper`,
// writes go to the sandbox's own scratch tmpfs and vanish with it.
struct OverlayTree {
  GuestPath at;
  std::vector<HostPath> lowers;
  std::optional<UpperDirs> upper;
};

// A host file or directory shown as it is.
struct BindTree {
  GuestPath at;
  HostPath source;
  Access access = Access::read_only;
};

struct Symlink {
  GuestPath at;
  std::string target;
};

// Everything below `/` but what every sandbox gets from its backend (/proc, /sys, /dev, /tmp …).
struct FileSystem {
  std::vector<OverlayTree> overlays;
  std::vector<BindTree> binds;
  std::vector<Symlink> symlinks;
  // Whose files the trees hold on the host: shown inside as the sandbox's user.
  uid_t owner_uid = 0;
  gid_t owner_gid = 0;
};

}  // namespace paddock::model
