#include "isolation/container/host_facts.h"

#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <thread>

#include "isolation/container/evidence_check.h"
#include "sys/capability_limits.h"
#include "sys/files.h"
#include "sys/landlock.h"
#include "sys/tmpfs.h"
#include "sys/user_namespace.h"

namespace paddock::isolation::container {
namespace {

// What tells of the host or of its other users, whatever namespace one is in. The rest of what
// runtimes cover needs no mount here: nobody inside is the machine's root, which owns it, and sysfs
// is mounted afresh, without what the host mounted on it.
constexpr std::array kMasked{
    "proc/acpi", "proc/asound",     "proc/interrupts",    "proc/kcore",
    "proc/keys", "proc/key-users",  "proc/latency_stats", "proc/sched_debug",
    "proc/scsi", "proc/timer_list", "sys/firmware",       "sys/devices/virtual/powercap"};
// Settings of the sandbox's own network and IPC namespaces belong to root inside. Those of the host
// belong to the host's root.
constexpr std::array kReadOnly{"proc/sys"};

// What only the machine's root may read needs no mount: nobody inside is that.
std::vector<std::string> readable_by_others(std::span<const char* const> paths) {
  std::vector<std::string> found;
  for (const char* path : paths) {
    auto st = sys::lstat_path(std::string("/") + path);
    if (st.ok() && (st->st_mode & S_IROTH) != 0) found.emplace_back(path);
  }
  return found;
}

Starter find_starter() {
  if (::geteuid() != 0 || !sys::in_initial_user_namespace()) return Starter::user;
  uint64_t needed = sys::capability_bit(CAP_SYS_ADMIN) | sys::capability_bit(CAP_SETUID) |
                    sys::capability_bit(CAP_SETGID);
  return (sys::effective_capabilities() & needed) == needed ? Starter::root : Starter::weak_root;
}

}  // namespace

HostFacts read_host_facts() {
  HostFacts facts;
  facts.uid = ::geteuid();
  facts.gid = ::getegid();
  facts.starter = find_starter();
  facts.landlock_abi = sys::landlock_abi();
  facts.cpus = std::max(1u, std::thread::hardware_concurrency());
  facts.tmpfs_holds_uppers = sys::tmpfs_has_user_xattrs();
  facts.cgroups = find_cgroups();
  facts.namespaces = own_namespaces();
  facts.masked = readable_by_others(kMasked);
  facts.read_only = {kReadOnly.begin(), kReadOnly.end()};
  return facts;
}

}  // namespace paddock::isolation::container
