#include "isolation/container/confinement.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>

namespace paddock::isolation::container {
namespace {

void add_rule(wire::Start& start, const std::string& path, wire::PathRule::Rights rights) {
  wire::PathRule* rule = start.add_landlock();
  rule->set_path(path);
  rule->set_rights(rights);
}

void add_limit(wire::Start& start, int resource, uint64_t value) {
  wire::ResourceLimit* limit = start.add_limits();
  limit->set_resource(resource);
  limit->set_value(value);
}

}  // namespace

void add_landlock_rules(const SandboxPlan& plan, wire::Start& start) {
  add_rule(start, "/", wire::PathRule::READ);
  // /proc: a process writes to its own files there (comm, oom_score_adj); what is the host's is
  // read-only by mount.
  for (const char* path : {"/tmp", "/var/tmp", "/run", "/dev", "/proc"}) {
    add_rule(start, path, wire::PathRule::READ_WRITE);
  }
  add_rule(start, plan.home.str(), wire::PathRule::READ_WRITE);
  if (plan.users == Users::several) add_rule(start, kRootHome, wire::PathRule::READ_WRITE);
  for (const auto& tree : plan.files.overlays) {
    add_rule(start, tree.at.str(), wire::PathRule::READ_WRITE);
  }
  for (const auto& bind : plan.files.binds) {
    if (bind.access == model::Access::read_write) {
      add_rule(start, bind.at.str(), wire::PathRule::READ_WRITE);
    }
  }
}

void add_resource_limits(const SandboxPlan& plan, const HostFacts& facts, wire::Start& start) {
  add_limit(start, RLIMIT_NOFILE, allowed_open_files(plan.limits));
  add_limit(start, RLIMIT_FSIZE, plan.limits.disk_bytes);
  // A cgroup reports what it refuses; these do not, so they stand in only where there is none.
  if (facts.cgroups.version_of("pids") == CgroupHost::Version::none) {
    add_limit(start, RLIMIT_NPROC, plan.limits.pids);
  }
  if (facts.cgroups.version_of("memory") == CgroupHost::Version::none) {
    add_limit(start, RLIMIT_DATA, plan.limits.memory_bytes);
  }
}

uint64_t allowed_open_files(const model::Limits& limits) {
  struct rlimit ours {};
  if (::getrlimit(RLIMIT_NOFILE, &ours) != 0) return limits.open_files;
  return std::min<uint64_t>(limits.open_files, ours.rlim_max);
}

unsigned allowed_cpus(const model::Limits& limits, unsigned available) {
  if (limits.cpus <= 0) return available;
  auto wanted = static_cast<unsigned>(std::ceil(limits.cpus));
  return std::clamp(wanted, 1u, available);
}

}  // namespace paddock::isolation::container
