// What this host and this process allow, read once per backend. Costs well under a millisecond;
// what can only be known by trying is the probe's (probe.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "isolation/container/cgroups.h"

namespace paddock::isolation::container {

// Who starts sandboxes decides how ids are mapped and trees reach the child.
enum class Starter {
  user,  // or the root of a user namespace that is not the machine's own
  root,
  weak_root,  // the machine's root short of CAP_SYS_ADMIN, CAP_SETUID or CAP_SETGID: root inside
              // would be root outside, so nothing is started
};

struct HostFacts {
  Starter starter = Starter::user;
  uid_t uid = 0;
  gid_t gid = 0;
  int landlock_abi = 0;  // 0: none
  unsigned cpus = 1;
  // Before Linux 6.6 an upper on a tmpfs cannot hold what overlayfs writes there: directories of a
  // lower could not be removed.
  bool tmpfs_holds_uppers = true;
  CgroupHost cgroups;
  std::map<std::string, uint64_t> namespaces;  // of this process, by name: inode numbers
  std::vector<std::string> masked;  // of proc and sys, below the root: what others may read
  std::vector<std::string> read_only;
};

HostFacts read_host_facts();

}  // namespace paddock::isolation::container
