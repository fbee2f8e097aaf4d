#include "isolation/container/launch.h"

#include <fmt/core.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/strings.h"
#include "isolation/container/child.h"
#include "isolation/container/confinement.h"
#include "isolation/container/controls.h"
#include "isolation/container/detached_sources.h"
#include "isolation/container/id_map.h"
#include "isolation/container/mount_program_builder.h"
#include "isolation/container/remedies.h"
#include "sys/capability_limits.h"
#include "sys/fd_passing.h"
#include "sys/files.h"
#include "sys/pipe.h"
#include "sys/unix_socket.h"

namespace paddock::isolation::container {
namespace {

constexpr uint64_t kNamespaceFlags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                     CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_NEWTIME;
// What the agent needs until it has built its network table and emptied its bounding set.
constexpr uint64_t kAgentCapabilities = sys::capability_bit(CAP_NET_ADMIN) |
                                        sys::capability_bit(CAP_NET_BIND_SERVICE) |
                                        sys::capability_bit(CAP_SETPCAP);
// To become the user that commands run as, before it drops everything.
constexpr uint64_t kBecomeCapabilities =
    sys::capability_bit(CAP_SETUID) | sys::capability_bit(CAP_SETGID);
constexpr uint64_t kMaxScratchInodes = 1u << 20;
constexpr uint64_t kAgentAttributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr gid_t kTtyGid = 5;  // Debian, and every distribution since; systemd insists
// Machine-wide, like the ids: not per PADDOCK_HOME.
constexpr const char* kIdRangeDir = "/run/paddock";

class Launch {
 public:
  Launch(const SandboxPlan& plan, const HostFacts& facts) : plan_(plan), facts_(facts) {}

  Result<Launched> run() {
    PD_TRY(check_users());
    PD_TRY(choose_ids());
    PD_TRY(prepare_mounts());
    launched_.cgroups = PD_TRY_CTX("limiting the sandbox",
                                   SandboxCgroups::make(facts_.cgroups, plan_.id, plan_.limits));
    PD_TRY(spawn());
    launched_.cgroups.start_attaching(launched_.agent.pid());
    PD_TRY_CTX("mapping the sandbox's ids",
               sys::write_id_maps(launched_.agent.pid(), launched_.id_maps));
    if (detached_) PD_TRY(map_mounts());
    PD_TRY(let_go());
    PD_TRY(await_agent());
    return std::move(launched_);
  }

 private:
  bool by_root() const { return facts_.starter == Starter::root; }

  Status check_users() const {
    if (plan_.users == Users::one) return {};
    if (!by_root()) {
      return Error(Code::unsupported, "a sandbox with several users needs ids of its own")
          .set_remedy("let root start it: subordinate ids of ordinary users are not used yet");
    }
    // Root inside could leave files of every user of the host there, setuid ones, too.
    for (const model::BindTree& bind : plan_.files.binds) {
      if (bind.access != model::Access::read_write) continue;
      return Error(Code::unsupported,
                   fmt::format("{} would be written by root of a sandbox with several users",
                               printable(bind.source.str())))
          .set_remedy("give it as a view, or read-only, or take a sandbox with one user");
    }
    return {};
  }

  Status choose_ids() {
    if (!by_root()) {
      launched_.id_maps = {format(single_id(facts_.uid)), format(single_id(facts_.gid)),
                           sys::Setgroups::deny};
      return {};
    }
    PD_TRY(sys::make_dir(kIdRangeDir, 0700));
    launched_.id_range =
        PD_TRY_CTX("choosing the sandbox's id range",
                   sys::lock_free_number(std::string(kIdRangeDir) + "/id-ranges", kPrivateRanges));
    base_ = private_range_base(launched_.id_range->number);
    const bool has_users = plan_.users == Users::several;
    std::string map = format(has_users ? private_range_of_users(base_) : private_range(base_));
    launched_.id_maps = {map, map, sys::Setgroups::allow};
    return {};
  }

  Status prepare_mounts() {
    ProgramOptions options;
    options.scratch_bytes = scratch_bytes(plan_.limits);
    options.scratch_inodes = std::min(kMaxScratchInodes, options.scratch_bytes / 4096 + 1024);
    options.shm_bytes = shm_bytes(plan_.limits);
    if (by_root()) {
      options.tty_gid = kTtyGid;
      options.home_owner = plan_.user;
    }
    if (!facts_.tmpfs_holds_uppers) options.upper_parent = plan_.state_dir / "uppers";
    options.masked = facts_.masked;
    options.read_only = facts_.read_only;
    if (by_root()) {
      detached_ = std::make_unique<DetachedSources>(
          DetachedSources::Owner{plan_.files.owner_uid, plan_.files.owner_gid, plan_.user, base_});
      mounts_ = PD_TRY(build_mount_program(plan_, options, *detached_));
      agent_mount_ = PD_TRY(
          sys::clone_mount(plan_.agent_program.str(), sys::Submounts::leave_out, kAgentAttributes));
    } else {
      PathSources paths;
      mounts_ = PD_TRY(build_mount_program(plan_, options, paths));
    }
    return {};
  }

  Status spawn() {
    auto stream = PD_TRY(sys::make_socket_pair(SOCK_STREAM));
    auto control = PD_TRY(sys::make_socket_pair(SOCK_SEQPACKET));
    std::string stream_number = std::to_string(kFirstAgentFd);
    std::string listener_number = std::to_string(kFirstAgentFd + 1);
    char name[] = "paddock-agent";
    char option[] = "--stream-fd";
    char second_option[] = "--listen-fd";
    ChildPlan child;
    child.mounts = &mounts_;
    child.parents_ends = {stream.first.get(), control.first.get()};
    child.control = control.second.get();
    child.agent_fds = {stream.second.get()};
    sys::SocketFd listener;
    if (plan_.lifetime == Lifetime::leased) {
      const sys::DirFd directory = PD_TRY(sys::open_dir(plan_.state_dir.str()));
      // That of an earlier start, whose agent is gone.
      (void)::unlinkat(directory.get(), kAgentSocket, 0);
      listener = PD_TRY_CTX("making the agent's socket", sys::listen_unix(directory, kAgentSocket));
      child.agent_fds.push_back(listener.get());
      // Nobody else may use its ids while it lives.
      if (launched_.id_range) child.agent_fds.push_back(launched_.id_range->lock.get());
    }
    child.agent_fds.insert(child.agent_fds.end(), plan_.held.begin(), plan_.held.end());
    if (child.agent_fds.size() > kMaxAgentFds) {
      return Error(Code::invalid_argument, "too many descriptors for the agent to hold");
    }
    child.agent = {plan_.agent_program.str(), agent_mount_.get()};
    child.argv = {name, option, stream_number.data(), nullptr};
    if (listener.is_open()) {
      child.argv = {name,   option, stream_number.data(), second_option, listener_number.data(),
                    nullptr};
    }
    child.hostname = plan_.hostname;
    child.capabilities = kAgentCapabilities;
    if (by_root() && plan_.user != 0) child.capabilities |= kBecomeCapabilities;
    if (plan_.users == Users::several) child.capabilities |= sys::kUserCapabilities;
    child.lifetime = plan_.lifetime;
    if (plan_.limits.cpus > 0 && facts_.cgroups.version_of("cpu") == CgroupHost::Version::none) {
      child.cpus = allowed_cpus(plan_.limits, facts_.cpus);
    }
    if (by_root()) child.identity = ChildPlan::Identity::root_inside;
    auto agent =
        sys::clone_child({kNamespaceFlags, launched_.cgroups.birth_fd()}, child_main, &child);
    if (!agent.ok()) return explain_namespaces(std::move(agent).error());
    launched_.agent = std::move(*agent);
    launched_.stream = std::move(stream.first);
    control_ = std::move(control.first);
    return sys::set_nonblocking(launched_.stream);
  }

  Status map_mounts() {
    sys::Fd own = PD_TRY(sys::open_namespace(launched_.agent.pid(), "user"));
    PD_TRY(detached_->map_all(own));
    // The child has its copies.
    detached_.reset();
    return {};
  }

  Status let_go() {
    if (::send(control_.get(), "g", 1, MSG_NOSIGNAL) == 1) return {};
    return Error::from_errno(errno, "telling the sandbox's first process to go on");
  }

  // The control socket closes when the agent is executed, or carries what failed.
  Status await_agent() {
    ChildFailure failure;
    while (true) {
      sys::Record record = PD_TRY(sys::receive_record(control_, &failure, sizeof failure));
      if (record.size == 0) break;
      if (record.size == sizeof failure) return explain(failure);
      launched_.scratch = std::move(record.fd);
    }
    control_.reset();
    return {};
  }

  Error explain(const ChildFailure& failure) const {
    switch (failure.stage) {
      case Stage::identity:
        return Error::from_errno(failure.error, "becoming the sandbox's user");
      case Stage::hostname:
        return Error::from_errno(failure.error, "setting the sandbox's host name");
      case Stage::mounts:
        return explain_mount(mounts_.at(failure.step), failure.error);
      case Stage::confine:
        return Error::from_errno(failure.error, "confining the sandbox's first process");
      case Stage::descriptors:
        return Error::from_errno(failure.error, "arranging the agent's descriptors");
      case Stage::exec:
        return Error::from_errno(failure.error, "executing " + printable(plan_.agent_program.str()))
            .set_remedy(
                "paddock-agent must be installed, static, beside paddock, on a file system "
                "without noexec");
    }
    return Error(Code::internal, "an unknown stage of the sandbox's start failed");
  }

  const SandboxPlan& plan_;
  const HostFacts& facts_;
  uint32_t base_ = 0;
  MountProgram mounts_;
  std::unique_ptr<DetachedSources> detached_;
  sys::MountFd agent_mount_;
  sys::SocketFd control_;
  Launched launched_;
};

}  // namespace

Result<Launched> launch(const SandboxPlan& plan, const HostFacts& facts) {
  if (facts.starter == Starter::weak_root) return weak_root_error();
  return Launch(plan, facts).run();
}

}  // namespace paddock::isolation::container
