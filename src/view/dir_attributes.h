// A merged directory of an overlay shows the attributes of its top-most layer: a directory of ours
// that lies over one of the host's carries the host's.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::view {

// Extended attributes that overlayfs keeps for itself in a layer (overlayfs(5)): never copied, or a
// directory of the host could steer the overlay.
bool is_overlay_xattr(const std::string& name);

enum class OwnerCopy { exact, not_permitted };

// Gives `to` the owner, mode, extended attributes (access lists among them) and times of `from`.
// not_permitted: only root may give a directory to another owner; everything else was copied.
Result<OwnerCopy> copy_dir_attributes(const sys::DirFd& from, const sys::DirFd& to);

}  // namespace paddock::view
