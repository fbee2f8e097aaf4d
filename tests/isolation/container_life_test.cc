// What a container is confined by from outside, and that nothing is left of it.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "container_fixture.h"
#include "sys/child.h"
#include "sys/files.h"
#include "sys/pid.h"

namespace paddock::isolation::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool within(milliseconds limit, const std::function<bool()>& holds) {
  auto deadline = steady_clock::now() + limit;
  while (!holds()) {
    if (steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds{5});
  }
  return true;
}

// Processes of the whole host whose command line holds `marker`.
int processes_with(const std::string& marker) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::string name = entry.path().filename();
    if (!std::isdigit(static_cast<unsigned char>(name[0]))) continue;
    std::ifstream file(entry.path() / "cmdline");
    std::string line((std::istreambuf_iterator<char>(file)), {});
    if (line.find(marker) != std::string::npos) ++count;
  }
  return count;
}

int cgroups_of(const model::SandboxId& id) {
  int count = 0;
  std::string name = "paddock-" + id.str();
  std::error_code ignored;
  for (const char* top : {"/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids",
                          "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified"}) {
    if (std::filesystem::exists(std::string(top) + "/" + name, ignored)) ++count;
  }
  return count;
}

// A sleep that this sandbox's processes can be told by.
std::string marker_of(const SandboxPlan& plan) {
  unsigned hash = 0;
  for (char c : plan.id.str()) hash = hash * 31 + static_cast<unsigned char>(c);
  return "sleep 1" + std::to_string(hash);
}

std::string in_background(const SandboxPlan& plan) {
  std::string sleep = marker_of(plan);
  return "(" + sleep + " & setsid " + sleep + " & (setsid " + sleep +
         " &) &) >/dev/null 2>&1 </dev/null";
}

std::string sleep_argv(const SandboxPlan& plan) {
  std::string marker = marker_of(plan);
  marker[5] = '\0';  // as /proc shows it
  return marker;
}

class ContainerLife : public ContainerTest {
 protected:
  void SetUp() override { PD_NEED_USER_NAMESPACES(); }

  bool has_cgroup(const SandboxPlan& plan, const char* limit) {
    for (const auto& control : backend().decide(plan)) {
      if (control.name == limit) return control.detail.find("cgroup v") != std::string::npos;
    }
    return false;
  }
};

TEST_F(ContainerLife, NothingIsLeftAfterDestroy) {
  SandboxPlan plan = host_plan();
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(run(*sandbox, in_background(plan)).status, 0);
  ASSERT_TRUE(within(milliseconds{5000}, [&] { return processes_with(sleep_argv(plan)) == 3; }));
  ASSERT_TRUE(sandbox->destroy().ok());
  EXPECT_EQ(processes_with(sleep_argv(plan)), 0);
  EXPECT_EQ(cgroups_of(plan.id), 0);
  EXPECT_TRUE(sandbox->destroy().ok()) << "destroying twice is the same";
}

TEST_F(ContainerLife, AKilledParentTakesABoundSandboxWithIt) {
  SandboxPlan plan = host_plan();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  pid_t parent = ::fork();
  if (parent == 0) {
    auto sandbox = start(plan);
    if (!sandbox.ok()) ::_exit(1);
    run(**sandbox, in_background(plan));
    (void)!::write(ready[1], "r", 1);
    ::pause();
  }
  ::close(ready[1]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_TRUE(within(milliseconds{5000}, [&] { return processes_with(sleep_argv(plan)) == 3; }));
  ::kill(parent, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  EXPECT_TRUE(within(milliseconds{5000}, [&] { return processes_with(sleep_argv(plan)) == 0; }));
  ASSERT_TRUE(backend().reclaim(plan.id).ok());
  EXPECT_EQ(cgroups_of(plan.id), 0);
  EXPECT_TRUE(backend().reclaim(plan.id).ok()) << "reclaiming twice is the same";
}

// Orphans become children of this process, which sees the last of them end.
bool all_children_end_within(milliseconds limit) {
  return within(limit, [] {
    int status = 0;
    while (::waitpid(-1, &status, WNOHANG) > 0) {
    }
    return ::waitpid(-1, &status, WNOHANG) < 0 && errno == ECHILD;
  });
}

TEST_F(ContainerLife, AParentKilledDuringTheStartLeavesNoProcess) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
  for (int delay_us : {0, 300, 600, 1000, 1500, 2000, 2500, 3000, 4000, 6000, 20000}) {
    SandboxPlan plan = host_plan();
    pid_t parent = ::fork();
    if (parent == 0) {
      auto sandbox = start(plan);
      ::pause();
    }
    ::usleep(static_cast<useconds_t>(delay_us));
    ::kill(parent, SIGKILL);
    EXPECT_TRUE(all_children_end_within(milliseconds{5000})) << delay_us;
    ASSERT_TRUE(backend().reclaim(plan.id).ok());
    EXPECT_EQ(cgroups_of(plan.id), 0);
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

TEST_F(ContainerLife, TheAgentsDescriptorTellsOfItsEnd) {
  auto sandbox = must_start(host_plan());
  ASSERT_NE(sandbox, nullptr);
  EXPECT_GT(sys::pid_of(sandbox->agent()), 0);
  // Nobody inside may end PID 1.
  EXPECT_NE(run(*sandbox, "kill -9 1; sleep 0.05; kill -0 1 && false").status, 0);
  EXPECT_EQ(run(*sandbox, "echo alive").output, "alive");
}

TEST_F(ContainerLife, AFailedStartNamesTheStepAndLeavesNothing) {
  SandboxPlan plan = host_plan();
  add_workspace(plan, "/w");
  plan.files.overlays.back().upper->work = plan.files.overlays.back().upper->upper;
  auto started = start(plan);
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().describe().find("/w"), std::string::npos) << started.error().describe();
  EXPECT_EQ(cgroups_of(plan.id), 0);
}

TEST_F(ContainerLife, AMissingAgentIsSaidSo) {
  SandboxPlan plan = host_plan();
  plan.agent_program = model::HostPath("/nonexistent/paddock-agent");
  auto started = start(plan);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), Code::not_found);
  EXPECT_NE(started.error().describe().find("/nonexistent/paddock-agent"), std::string::npos);
}

TEST_F(ContainerLife, AForkBombMeetsTheLimitAndTheHostDoesNot) {
  SandboxPlan plan = host_plan();
  plan.limits.pids = 24;
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  EXPECT_TRUE(sandbox->check({}).size() > 0) << "waits until the limits hold";
  bool counted = has_cgroup(plan, "limits.pids");
  // Without a cgroup the agent sets RLIMIT_NPROC for each command.
  std::string limit = counted ? "" : "ulimit -p 24; ";
  CommandOutcome outcome =
      run(*sandbox,
          limit + "i=0; while [ $i -lt 100 ]; do sleep 100 >/dev/null 2>&1 & i=$((i+1)); done");
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.output.find("fork"), std::string::npos) << outcome.output;
  bool reported = false;
  for (const auto& denial : sandbox->limits_hit()) {
    reported = reported || (denial.what == "pids" && denial.count > 0 && !denial.remedy.empty());
  }
  EXPECT_EQ(reported, counted);
}

TEST_F(ContainerLife, WhatNeedsMoreMemoryThanTheLimitIsKilledAndReported) {
  SandboxPlan plan = host_plan();
  plan.limits.memory_bytes = 96u << 20;
  if (!has_cgroup(plan, "limits.memory"))
    GTEST_SKIP() << "needs cgroup-delegation: no memory controller";
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  (void)sandbox->check({});
  EXPECT_FALSE(sandbox->oom_killed());
  EXPECT_NE(
      run(*sandbox,
          "head -c 300000000 /dev/zero | tail -c 300000000 > /dev/null; exit ${PIPESTATUS:-9}")
          .status,
      0);
  EXPECT_TRUE(sandbox->oom_killed());
  EXPECT_GT(sandbox->usage().peak_memory_bytes, 50u << 20);
  ASSERT_TRUE(sandbox->destroy().ok());
  EXPECT_TRUE(sandbox->oom_killed()) << "known after the cgroup is gone";
  bool reported = false;
  for (const auto& denial : sandbox->limits_hit()) reported = reported || denial.what == "memory";
  EXPECT_TRUE(reported);
}

TEST_F(ContainerLife, AFrozenSandboxDoesNothingUntilItIsThawed) {
  SandboxPlan plan = host_plan();
  add_workspace(plan, "/w");
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  run(*sandbox, "(while :; do echo x >> /w/log; done) >/dev/null 2>&1 &");
  auto size = [&] {
    auto st = sys::lstat_path(upper() + "/log");
    return st.ok() ? st->st_size : 0;
  };
  ASSERT_TRUE(within(milliseconds{5000}, [&] { return size() > 0; }));
  Status frozen = sandbox->freeze();
  if (!frozen.ok()) {
    EXPECT_EQ(frozen.error().code(), Code::unsupported);
    EXPECT_FALSE(frozen.error().remedy().empty());
    GTEST_SKIP() << "needs cgroup-delegation: a user without a cgroup cannot freeze";
  }
  auto before = size();
  std::this_thread::sleep_for(milliseconds{100});
  EXPECT_EQ(size(), before);
  ASSERT_TRUE(sandbox->thaw().ok());
  EXPECT_TRUE(within(milliseconds{5000}, [&] { return size() > before; }));
  ASSERT_TRUE(sandbox->freeze().ok());
  EXPECT_TRUE(sandbox->destroy().ok()) << "a frozen sandbox can be destroyed";
}

TEST_F(ContainerLife, RootInsideIsNobodyOutside) {
  auto sandbox = must_start(host_plan());
  ASSERT_NE(sandbox, nullptr);
  std::string own = std::to_string(::geteuid());
  EXPECT_EQ(output_of(*sandbox, "id -u"), ::geteuid() == 0 ? "0" : own);
  auto status =
      sys::read_file("/proc/" + std::to_string(sys::pid_of(sandbox->agent())) + "/status");
  ASSERT_TRUE(status.ok());
  size_t at = status->find("\nUid:\t");
  ASSERT_NE(at, std::string::npos);
  unsigned long outside = std::stoul(status->substr(at + 6));
  if (::geteuid() == 0) {
    EXPECT_GE(outside, 0x70000000u);
  } else {
    EXPECT_EQ(outside, ::geteuid());
  }
  EXPECT_NE(output_of(*sandbox, "cat /proc/self/uid_map").find(::geteuid() == 0 ? "65536" : own),
            std::string::npos);
}

TEST_F(ContainerLife, NoCommandHoldsAnyPower) {
  auto sandbox = must_start(host_plan());
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(output_of(*sandbox, "grep -c 'Cap.*:.0000000000000000$' /proc/self/status"), "5");
  EXPECT_EQ(output_of(*sandbox, "grep NoNewPrivs /proc/self/status | cut -f2"), "1");
  for (const char* attempt :
       {"mount -t tmpfs x /tmp", "umount /proc", "hostname other", "chroot / true",
        "echo 1 > /proc/sys/net/ipv4/ip_forward", "echo x > /proc/sys/kernel/core_pattern",
        "echo x > /proc/sys/kernel/domainname", "echo b > /proc/sysrq-trigger", "cat /proc/kcore",
        "cat /proc/keys", "cat /proc/timer_list", "ls /sys/firmware/",
        "echo 1 > /sys/kernel/profiling", "mknod /tmp/d b 254 0", "cat /proc/1/environ",
        "ls /proc/1/root/", "ls -l /proc/1/cwd"}) {
    EXPECT_NE(run(*sandbox, attempt).status, 0) << attempt;
  }
}

TEST_F(ContainerLife, ItSeesItsOwnProcessesNetworkAndNamesOnly) {
  auto sandbox = must_start(host_plan());
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(output_of(*sandbox, "hostname"), "sandbox");
  EXPECT_EQ(output_of(*sandbox, "set -- /proc/[0-9]*; echo $#"), "2");
  EXPECT_EQ(output_of(*sandbox, "ls /sys/class/net"), "lo");
  EXPECT_EQ(output_of(*sandbox, "tail -n +3 /proc/net/dev | wc -l"), "1");
  EXPECT_EQ(output_of(*sandbox, "ipcs -m | grep -c 0x || true"), "0");
}

TEST_F(ContainerLife, AbstractSocketsOfTheHostAreOutOfReach) {
  SandboxPlan plan = host_plan();
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  std::string name = "paddock-test-" + plan.id.str();
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  sys::Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  std::string connect =
      "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); exit(connect(S, pack(\"S\",1).\"\\0" +
      name + "\") ? 0 : 1)'";
  EXPECT_EQ(::system(connect.c_str()), 0) << "from the host it connects";
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(output_of(*sandbox, "perl -e 'print 1'"), "1");
  EXPECT_NE(run(*sandbox, connect).status, 0);
}

TEST_F(ContainerLife, NoDescriptorOfTheHostIsInherited) {
  sys::Fd leaked(::open("/etc/hostname", O_RDONLY));  // without close-on-exec
  auto sandbox = must_start(host_plan());
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(output_of(*sandbox, "ls -l /proc/self/fd | grep -c hostname || true"), "0");
}

// Left out when the suite runs as an ordinary user (run_as.py).
class ContainerByRoot : public ContainerLife {};

TEST_F(ContainerByRoot, AWorkspaceOfAnotherUserIsTheSandboxsOwnAndStaysThatUsersOnDisk) {
  constexpr uid_t kOwner = 4242;
  constexpr gid_t kGroup = 4343;
  ASSERT_TRUE(sys::replace_file(workspace() + "/a", "old\n", 0600).ok());
  ASSERT_TRUE(sys::replace_file(workspace() + "/roots", "r", 0644).ok());
  for (const std::string& path :
       {workspace(), workspace() + "/a", upper(), directory() + "/view/work"}) {
    ASSERT_EQ(::chown(path.c_str(), kOwner, kGroup), 0);
  }
  SandboxPlan plan = host_plan();
  plan.files.owner_uid = kOwner;
  plan.files.owner_gid = kGroup;
  add_workspace(plan, "/w");
  plan.files.binds.push_back(
      {model::GuestPath("/direct"), model::HostPath(workspace()), model::Access::read_write});
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(output_of(*sandbox, "stat -c %u:%g /w/a /usr/bin/env"), "0:0\n0:0");
  EXPECT_EQ(output_of(*sandbox, "stat -c %u /w/roots"), "65535")
      << "root's files are nobody's inside";
  EXPECT_EQ(output_of(*sandbox, "echo new >> /w/a && echo b > /w/b && mkdir /w/d && cat /w/a"),
            "old\nnew");
  EXPECT_EQ(output_of(*sandbox, "echo x > /direct/x; stat -c %u /direct/x"), "0");
  for (const std::string& path :
       {upper() + "/a", upper() + "/b", upper() + "/d", workspace() + "/x"}) {
    auto st = sys::lstat_path(path);
    ASSERT_TRUE(st.ok()) << path;
    EXPECT_EQ(st->st_uid, kOwner) << path;
    EXPECT_EQ(st->st_gid, kGroup) << path;
  }
  EXPECT_NE(run(*sandbox, "echo x >> /w/roots").status, 0);
}

TEST_F(ContainerByRoot, TwoSandboxesShareNoId) {
  auto one = must_start(host_plan());
  auto other = must_start(host_plan());
  ASSERT_TRUE(one && other);
  EXPECT_NE(output_of(*one, "cat /proc/self/uid_map"), output_of(*other, "cat /proc/self/uid_map"));
}

TEST_F(ContainerByRoot, AWorkspaceThatCannotMapIdsIsRefusedWithTheRemedy) {
  // A mount of its own, in a mount namespace of its own: overlayfs shows no other ids.
  pid_t pid = ::fork();
  if (pid == 0) {
    std::string at = directory() + "/merged";
    ::mkdir(at.c_str(), 0755);
    std::string options = "lowerdir=" + workspace() + ":" + directory() + "/etc";
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("x", at.c_str(), "overlay", 0, options.c_str()) != 0) {
      ::_exit(2);
    }
    SandboxPlan plan = host_plan();
    add_workspace(plan, "/w");
    plan.files.overlays.back().lowers = {model::HostPath(at)};
    auto started = start(plan);
    bool refused = !started.ok() && started.error().code() == Code::unsupported &&
                   !started.error().remedy().empty();
    // The same tree read-only needs no ids.
    plan = host_plan();
    plan.files.binds.push_back({model::GuestPath("/ro"), model::HostPath(at)});
    bool read_only_starts = start(plan).ok();  // and is gone before we are
    ::_exit(!refused ? 3 : read_only_starts ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace paddock::isolation::testing
