// User namespaces and namespace descriptors of other processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

enum class Setgroups { allow, deny };

// Contents of uid_map and gid_map (user_namespaces(7)): "inside outside count" lines.
struct IdMaps {
  std::string uid;
  std::string gid;
  Setgroups setgroups = Setgroups::allow;  // an unprivileged writer must deny it first
};

// Writes the maps of a child's new user namespace, from its parent. permission_denied when the map
// holds ids that are not ours to give.
Status write_id_maps(pid_t pid, const IdMaps& maps);

// /proc/<pid>/ns/<name>; name: user mnt pid net ipc uts cgroup time.
Result<Fd> open_namespace(pid_t pid, const std::string& name);
// Its inode number, which identifies the namespace while it lives. pid 0: ours.
Result<uint64_t> namespace_inode(pid_t pid, const std::string& name);

// A user namespace that nobody is in, kept alive by the descriptor: for id-mapped mounts.
Result<Fd> make_user_namespace(const IdMaps& maps);

// The file starts with "0 0 4294967295": we are in the machine's own user namespace.
bool in_initial_user_namespace();

}  // namespace paddock::sys
