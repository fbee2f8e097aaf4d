#include "isolation/container/controls.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "isolation/container/confinement.h"

namespace paddock::isolation::container {
namespace {

using model::Control;
using model::ControlState;
using Version = CgroupHost::Version;

const char* name_of_version(Version version) {
  return version == Version::v2 ? "cgroup v2" : "cgroup v1";
}

Control enforced(std::string name, std::string detail) {
  return {std::move(name), ControlState::enforced, std::move(detail)};
}

Control approximated(std::string name, std::string detail) {
  return {std::move(name), ControlState::approximated, std::move(detail)};
}

Control memory_control(const SandboxPlan& plan, const HostFacts& facts) {
  Version version = facts.cgroups.version_of("memory");
  std::string limit = format_bytes(plan.limits.memory_bytes);
  if (version != Version::none) {
    return enforced("limits.memory",
                    fmt::format("{} for the sandbox, by {}", limit, name_of_version(version)));
  }
  return approximated(
      "limits.memory",
      fmt::format("{} of data for each process (RLIMIT_DATA), and not for their sum; "
                  "reported to nobody: {}; remedy: {}",
                  limit, facts.cgroups.reason, facts.cgroups.remedy));
}

Control pids_control(const SandboxPlan& plan, const HostFacts& facts) {
  Version version = facts.cgroups.version_of("pids");
  if (version != Version::none) {
    return enforced("limits.pids",
                    fmt::format("{} tasks, by {}", plan.limits.pids, name_of_version(version)));
  }
  return enforced(
      "limits.pids",
      fmt::format("{} tasks, by RLIMIT_NPROC in the sandbox's own user namespace: a hit "
                  "fails the fork (EAGAIN) and is not reported",
                  plan.limits.pids));
}

Control cpus_control(const SandboxPlan& plan, const HostFacts& facts) {
  if (plan.limits.cpus <= 0) return enforced("limits.cpus", "no limit asked for");
  Version version = facts.cgroups.version_of("cpu");
  if (version != Version::none) {
    return enforced("limits.cpus", fmt::format("{:g} processors' time, by {}", plan.limits.cpus,
                                               name_of_version(version)));
  }
  return approximated(
      "limits.cpus",
      fmt::format("{} of {} processors to run on (affinity, which a program may undo); "
                  "{}; remedy: {}",
                  allowed_cpus(plan.limits, facts.cpus), facts.cpus, facts.cgroups.reason,
                  facts.cgroups.remedy));
}

Control disk_control(const SandboxPlan& plan, const HostFacts& facts) {
  std::string scratch = format_bytes(scratch_bytes(plan.limits));
  bool has_host_upper = !plan.kept_uppers.empty() ||
                        std::any_of(plan.files.overlays.begin(), plan.files.overlays.end(),
                                    [&](const model::OverlayTree& tree) {
                                      return tree.upper.has_value() || !facts.tmpfs_holds_uppers;
                                    });
  bool has_host_write = std::any_of(
      plan.files.binds.begin(), plan.files.binds.end(),
      [](const model::BindTree& bind) { return bind.access == model::Access::read_write; });
  if (!has_host_upper && !has_host_write) {
    return enforced("limits.disk", scratch + " of scratch, by the size of its tmpfs");
  }
  return approximated(
      "limits.disk",
      fmt::format("{} of scratch by the size of its tmpfs; on the host's disk {} for "
                  "one file (RLIMIT_FSIZE), and their sum only as often as it is "
                  "looked at: the kernel keeps no quota there",
                  scratch, format_bytes(plan.limits.disk_bytes)));
}

Control user_namespace_control(const HostFacts& facts) {
  if (facts.starter == Starter::root) {
    return enforced("user_namespace",
                    "65536 ids of a private range, on no disk: root inside is nobody outside");
  }
  return enforced(
      "user_namespace",
      fmt::format("the caller's own id {} alone; its supplementary groups still open what "
                  "they open outside",
                  facts.uid));
}

Control capabilities_control(const SandboxPlan& plan) {
  if (plan.users == Users::one) return enforced("capabilities", "none, with an empty bounding set");
  return enforced("capabilities",
                  "none for the sandbox's user; for root inside, and for whoever is root by sudo: "
                  "CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID, over the sandbox's own ids "
                  "alone, with an empty bounding set");
}

Control landlock_control(const HostFacts& facts) {
  if (facts.landlock_abi > 0) {
    return enforced("landlock", fmt::format("ABI {}: writes only to workspace, home, temporary and "
                                            "scratch directories, beneath what the mounts allow",
                                            facts.landlock_abi));
  }
  return {"landlock", ControlState::refused,
          "this kernel has none (CONFIG_SECURITY_LANDLOCK, lsm=landlock): mounts alone hold"};
}

// Landlock cannot take a path back from below a parent that it allows; a mount over it can.
Control deny_control(const SandboxPlan& plan) {
  return approximated(
      "files.deny", fmt::format("{} path(s) covered by an empty mount that nobody may read or "
                                "write; one that is absent at the start can be made by the command",
                                plan.denied_paths.size()));
}

}  // namespace

uint64_t scratch_bytes(const model::Limits& limits) {
  return std::min(limits.disk_bytes, limits.memory_bytes);
}

uint64_t shm_bytes(const model::Limits& limits) {
  return std::min(limits.shm_bytes, limits.memory_bytes);
}

std::vector<Control> decide_controls(const SandboxPlan& plan, const HostFacts& facts) {
  std::vector<Control> controls{
      user_namespace_control(facts),
      enforced("namespaces", "user mnt pid net ipc uts cgroup time, all its own"),
      capabilities_control(plan),
      enforced("no_new_privs", "set before the agent starts"),
      enforced("seccomp", "by table, checked from inside; a refused call says which row"),
      landlock_control(facts),
      enforced("network",
               "its own namespace with loopback alone: what leaves goes through the gate"),
      enforced("proc.masked",
               "what tells of the host is covered; /proc/sys and /sys are read-only"),
      memory_control(plan, facts),
      pids_control(plan, facts),
      cpus_control(plan, facts),
      disk_control(plan, facts),
      enforced("limits.shm", format_bytes(shm_bytes(plan.limits)) + " of /dev/shm, by its size"),
      enforced("limits.open_files",
               fmt::format("{} for each process (RLIMIT_NOFILE)", allowed_open_files(plan.limits))),
  };
  if (!plan.denied_paths.empty()) controls.push_back(deny_control(plan));
  return controls;
}

}  // namespace paddock::isolation::container
