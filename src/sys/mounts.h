// Detached mounts: made here, attached by a process in another mount namespace. Nothing is ever
// mounted in our own.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

enum class Submounts { leave_out, include };

// A private clone of the mount at `path` (trusted: symlinks are followed), rooted there, with
// `attributes` (MOUNT_ATTR_*) added. Needs CAP_SYS_ADMIN. It goes with the descriptor unless
// attached.
Result<MountFd> clone_mount(const std::string& path, Submounts submounts, uint64_t attributes);

// Shows the files of a detached, never attached mount under the ids of `user_namespace` (its maps
// read "on disk, shown, count"). unsupported: the file system cannot (overlayfs; tmpfs before 6.3;
// NFS).
Status map_ids(const MountFd& mount, Submounts submounts, const Fd& user_namespace);

}  // namespace paddock::sys
