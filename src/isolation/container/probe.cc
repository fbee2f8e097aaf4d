#include "isolation/container/probe.h"

#include <fmt/core.h>

#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <string_view>

#include <string>
#include <utility>

#include "base/strings.h"
#include "isolation/container/id_map.h"
#include "isolation/container/remedies.h"
#include "isolation/handshake.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/mounts.h"
#include "sys/random.h"
#include "sys/user_namespace.h"

namespace paddock::isolation::container {
namespace {

using model::ControlState;
using model::GuestPath;
using model::HostPath;

constexpr int kAgentMs = 10'000;
constexpr const char* kLevel = "container";

Probe proved(std::string name, std::string proof) {
  return {std::move(name), ControlState::enforced, std::move(proof), ""};
}

Probe missing(std::string name, const Error& error, std::string fallback_remedy) {
  std::string remedy = error.remedy().empty() ? std::move(fallback_remedy) : error.remedy();
  return {std::move(name), ControlState::refused, error.describe(), std::move(remedy)};
}

// Directories for one container, removed again. On a disk, where views are, and not on a tmpfs.
class Workplace {
 public:
  static Result<Workplace> make() {
    std::string path = "/var/tmp/paddock-probe-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      return Error::from_errno(errno, "making a directory in /var/tmp");
    }
    Workplace made(std::move(path));
    for (const char* name : {"/workspace", "/fs", "/work", "/state"}) {
      PD_TRY(sys::make_dir(made.path_ + name, 0755));
    }
    return made;
  }
  Workplace(Workplace&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~Workplace() {
    if (!path_.empty()) (void)sys::remove_tree(path_).ok();
  }

  HostPath at(const char* name) const { return HostPath(path_ + name); }

 private:
  explicit Workplace(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

Result<SandboxPlan> make_plan(const Workplace& place, const HostFacts& facts) {
  std::string self = PD_TRY(sys::real_path("/proc/self/exe"));
  SandboxPlan plan;
  plan.id = model::SandboxId::from_entropy(sys::random_bytes(8));
  plan.files.overlays = {{GuestPath("/usr"), {HostPath("/usr")}, std::nullopt},
                         {GuestPath("/workspace"),
                          {place.at("/workspace")},
                          model::UpperDirs{place.at("/fs"), place.at("/work")}}};
  plan.files.owner_uid = facts.uid;
  plan.files.owner_gid = facts.gid;
  plan.home = GuestPath("/home/user");
  plan.hostname = "probe";
  plan.agent_program = HostPath(self.substr(0, self.rfind('/')) + "/paddock-agent");
  plan.state_dir = place.at("/state");
  return plan;
}

// What the agent saw from inside, or why there was none.
Result<wire::Evidence> start_and_look(Backend& backend, const HostFacts& facts) {
  Workplace place = PD_TRY(Workplace::make());
  SandboxPlan plan = PD_TRY(make_plan(place, facts));
  auto sandbox = PD_TRY(backend.start(plan));
  wire::Evidence evidence = PD_TRY(introduce(*sandbox, kAgentMs));
  auto mismatches = sandbox->check(evidence);
  PD_TRY(sandbox->destroy());
  if (mismatches.empty()) return evidence;
  return Error(Code::failed_precondition,
               "inside, the isolation is not what was decided: " + join(mismatches, "; "));
}

Probe probe_level(Backend& backend, const HostFacts& facts) {
  int64_t started_us = sys::monotonic_us();
  auto evidence = start_and_look(backend, facts);
  if (!evidence.ok()) return missing(kLevel, evidence.error(), user_namespace_remedy());
  return proved(
      kLevel,
      fmt::format("started one in {:.1f} ms on Linux {}; from inside: {} namespaces, no "
                  "capability, {} seccomp filter(s), the network table in place, the "
                  "agent's private memory {}",
                  static_cast<double>(sys::monotonic_us() - started_us) / 1000,
                  printable(evidence->kernel_release()), evidence->namespaces().size(),
                  evidence->seccomp_filters(), format_bytes(evidence->agent_private_bytes())));
}

Probe probe_landlock(const HostFacts& facts) {
  if (facts.landlock_abi > 0) {
    return proved("container.landlock",
                  fmt::format("the kernel offers ABI {}", facts.landlock_abi));
  }
  return {"container.landlock", ControlState::refused, "the kernel offers none",
          "boot with lsm=landlock,… or a kernel with CONFIG_SECURITY_LANDLOCK"};
}

// One cgroup with every limit that the host's controllers give.
std::vector<Probe> probe_cgroups(const HostFacts& facts) {
  model::Limits limits;
  limits.cpus = 1;
  auto id = model::SandboxId::from_entropy(sys::random_bytes(8));
  auto cgroups = SandboxCgroups::make(facts.cgroups, id, limits);
  std::vector<Probe> probes;
  for (const char* controller : {"memory", "pids", "cpu"}) {
    std::string name = std::string("container.cgroup.") + controller;
    auto version = facts.cgroups.version_of(controller);
    if (!cgroups.ok()) {
      probes.push_back(missing(name, cgroups.error(), facts.cgroups.remedy));
    } else if (version == CgroupHost::Version::none && std::string_view(controller) == "pids") {
      // RLIMIT_NPROC counts in the sandbox's own user namespace: it holds, it only tells nobody.
      probes.push_back(
          proved(name, facts.cgroups.reason + ": RLIMIT_NPROC holds the limit, unreported"));
    } else if (version == CgroupHost::Version::none) {
      probes.push_back({name, ControlState::approximated,
                        facts.cgroups.reason + ": resource limits stand in", facts.cgroups.remedy});
    } else {
      probes.push_back(proved(name, fmt::format("made a version {} cgroup and set its limit",
                                                version == CgroupHost::Version::v2 ? 2 : 1)));
    }
  }
  bool freezes =
      cgroups.ok() && cgroups->can_freeze() && cgroups->freeze().ok() && cgroups->thaw().ok();
  probes.push_back(freezes ? proved("container.freeze", "froze and thawed a cgroup")
                           : Probe{"container.freeze", ControlState::refused,
                                   "no version 2 cgroup of ours to freeze", facts.cgroups.remedy});
  return probes;
}

// Started by root, trees are shown under other ids.
Status map_ids_of(const std::string& path) {
  auto mount = PD_TRY(sys::clone_mount(path, sys::Submounts::leave_out, MOUNT_ATTR_NOSUID));
  std::string map = format(private_range(private_range_base(0)));
  sys::Fd ids = PD_TRY(sys::make_user_namespace({map, map}));
  return sys::map_ids(mount, sys::Submounts::leave_out, ids);
}

Probe probe_ids(const HostFacts& facts) {
  const char* name = "container.ids";
  if (facts.starter != Starter::root) {
    return proved(name, fmt::format("started by a user: its own id {} is the only one", facts.uid));
  }
  Status mapped = map_ids_of("/var/tmp");
  if (!mapped.ok()) {
    return missing(name, mapped.error(), "keep workspaces and PADDOCK_HOME on ext4, XFS or btrfs");
  }
  return proved(name, "showed /var/tmp under ids of a private range (id-mapped mount)");
}

}  // namespace

std::vector<Probe> probe_host(Backend& backend, const HostFacts& facts) {
  std::vector<Probe> probes{probe_level(backend, facts), probe_landlock(facts), probe_ids(facts)};
  for (Probe& probe : probe_cgroups(facts)) probes.push_back(std::move(probe));
  return probes;
}

}  // namespace paddock::isolation::container
