#include "isolation/container/container_sandbox.h"

#include <fmt/core.h>
#include <sys/time.h>
#include <sys/vfs.h>

#include <algorithm>
#include <utility>

#include "isolation/container/confinement.h"
#include "isolation/container/controls.h"
#include "isolation/seccomp/filter.h"
#include "sys/capability_limits.h"

namespace paddock::isolation::container {
namespace {

uint64_t microseconds(const struct timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1000000 + static_cast<uint64_t>(time.tv_usec);
}

// No block or no inode is left.
bool is_full(const sys::Fd& file_system) {
  struct statfs fs {};
  return ::fstatfs(file_system.get(), &fs) == 0 && (fs.f_bavail == 0 || fs.f_ffree == 0);
}

}  // namespace

ContainerSandbox::ContainerSandbox(const SandboxPlan& plan, const HostFacts& facts,
                                   Launched launched)
    : plan_(plan),
      facts_(facts),
      uid_(facts.starter == Starter::root ? plan.user : facts.uid),
      gid_(facts.starter == Starter::root ? plan.user : facts.gid),
      controls_(decide_controls(plan, facts)),
      launched_(std::move(launched)) {}

ContainerSandbox::ContainerSandbox(const Adoption& adoption, const HostFacts& facts,
                                   Launched launched)
    : facts_(facts),
      controls_(adoption.controls),
      launched_(std::move(launched)),
      confinement_(adoption.confinement) {
  plan_.id = adoption.id;
  plan_.limits = adoption.limits;
  plan_.home = adoption.home;
  plan_.state_dir = adoption.state_dir;
  plan_.lifetime = Lifetime::leased;
}

ContainerSandbox::~ContainerSandbox() {
  (void)destroy().ok();
}

wire::Setup ContainerSandbox::setup() const {
  wire::Setup setup;
  seccomp::fill(setup);
  setup.set_network_table(true);
  setup.set_bound(plan_.lifetime == Lifetime::bound);
  setup.set_uid(uid_);
  setup.set_gid(gid_);
  if (plan_.users == Users::several) {
    setup.set_user_capabilities(sys::kUserCapabilities);
    confine(*setup.mutable_sudo());
  }
  return setup;
}

std::vector<std::string> ContainerSandbox::check(const wire::Evidence& evidence) const {
  Expectation expected;
  expected.uid_map = launched_.id_maps.uid;
  expected.gid_map = launched_.id_maps.gid;
  expected.uid = uid_;
  expected.gid = gid_;
  if (facts_.starter == Starter::user) expected.groups = Expectation::Groups::callers;
  expected.host_namespaces = facts_.namespaces;
  expected.landlock_abi = facts_.landlock_abi;
  std::vector<std::string> mismatches = compare(expected, evidence);
  if (plan_.users == Users::several) {
    for (std::string& mismatch : compare_root(expected, evidence)) {
      mismatches.push_back("as root: " + std::move(mismatch));
    }
  }
  // No command may run before the limits hold it.
  Status attached = launched_.cgroups.attached();
  if (!attached.ok())
    mismatches.push_back("the limits do not hold: " + attached.error().describe());
  return mismatches;
}

void ContainerSandbox::confine(wire::Start& start) const {
  if (confinement_) return start.MergeFrom(*confinement_);
  if (facts_.landlock_abi > 0) add_landlock_rules(plan_, start);
  add_resource_limits(plan_, facts_, start);
  // Processes of several users signal each other by their ids, across commands.
  start.set_landlock_unscoped(plan_.users == Users::several);
}

ContainerSandbox::Counters ContainerSandbox::read_counters() const {
  Counters counters;
  counters.limits_hit = launched_.cgroups.limits_hit();
  if (is_full(launched_.scratch)) counters.limits_hit.push_back(limit_hit("disk", "--disk", 1));
  counters.oom_killed = launched_.cgroups.oom_kills() > 0;
  launched_.cgroups.fill(counters.usage);
  return counters;
}

std::vector<model::Denial> ContainerSandbox::limits_hit() {
  return counters().limits_hit;
}
bool ContainerSandbox::oom_killed() {
  return counters().oom_killed;
}
model::Usage ContainerSandbox::usage() {
  return counters().usage;
}

model::Control ContainerSandbox::pausing() const {
  using enum model::ControlState;
  if (launched_.cgroups.can_freeze()) {
    return {"pause", enforced, "every process at once, by the cgroup's freezer"};
  }
  return {"pause", approximated,
          "by stop signals of PID 1: parents see their children stop, and a program can arrange to "
          "be woken; no cgroup of ours can freeze; remedy: " +
              facts_.cgroups.remedy};
}

Status ContainerSandbox::freeze() {
  if (launched_.cgroups.can_freeze()) return launched_.cgroups.freeze();
  return Error(
             Code::unsupported,
             "a sandbox without a cgroup cannot be frozen: stopping its processes one by one races "
             "with those that start")
      .set_remedy(facts_.cgroups.remedy);
}

Status ContainerSandbox::thaw() {
  if (launched_.cgroups.can_freeze()) return launched_.cgroups.thaw();
  return Error(Code::failed_precondition, "the sandbox is not frozen");
}

Status ContainerSandbox::replace_files(const model::FileSystem&) {
  return Error(Code::unsupported, "the files of a running container cannot be replaced yet")
      .set_remedy("end the sandbox and start another one in the view");
}

void ContainerSandbox::let_go() {
  launched_.agent.release();
  launched_.cgroups.release();
  launched_.stream.reset();
  launched_.id_range.reset();  // the agent has it, too
  destroyed_ = true;
}

Status ContainerSandbox::destroy() {
  if (destroyed_) return {};
  if (launched_.cgroups.can_freeze()) (void)launched_.cgroups.thaw().ok();
  // PID 1 ends last: when it is reaped, no process of the sandbox is left.
  PD_TRY_CTX("ending the sandbox", launched_.agent.kill_and_wait());
  last_counters_ = read_counters();
  if (const auto& exit = launched_.agent.exit(); exit && last_counters_.usage.user_us == 0) {
    last_counters_.usage.user_us = microseconds(exit->usage.ru_utime);
    last_counters_.usage.system_us = microseconds(exit->usage.ru_stime);
  }
  PD_TRY_CTX("ending the sandbox", launched_.cgroups.remove());
  launched_.scratch.reset();
  launched_.stream.reset();
  launched_.id_range.reset();
  destroyed_ = true;
  return {};
}

}  // namespace paddock::isolation::container
