// The file system of a container: what is there, what is not, what can be written.
#include <sys/stat.h>
#include <unistd.h>

#include "container_fixture.h"
#include "sys/files.h"

namespace paddock::isolation::testing {
namespace {

class ContainerFiles : public ContainerTest {
 protected:
  void SetUp() override { PD_NEED_USER_NAMESPACES(); }
};

TEST_F(ContainerFiles, TheRootHoldsWhatThePlanNamesAndNothingElseOfTheHost) {
  auto sandbox = must_start(host_plan());
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(output_of(*sandbox, "echo $(ls -A /)"),
            "bin dev etc home lib lib64 proc run sbin sys tmp usr var");
  EXPECT_EQ(output_of(*sandbox, "echo $(ls -A /etc)"), "passwd");
  EXPECT_EQ(output_of(*sandbox, "ls -A /home/user /tmp /var/tmp /run | tr -d '\\n'"),
            "/home/user:/run:/tmp:/var/tmp:");
  EXPECT_NE(run(*sandbox, "touch /x").status, 0) << "the skeleton is read-only";
}

// `/..` is `/`, by number and by what is in it.
constexpr const char* kCompareRoots =
    "test \"$(stat -L -c %d:%i / /.. /../.. /proc/self/root /proc/self/root/.. | sort -u | wc "
    "-l)\" = 1 "
    "&& test \"$(ls -A /..)\" = \"$(ls -A /)\" && cd / && cd .. && test \"$(ls -A)\" = \"$(ls -A "
    "/)\" "
    "&& ! ls -d /../root /../boot /../srv >/dev/null 2>&1 && echo same";

TEST_F(ContainerFiles, NothingOfTheHostLiesAboveTheRoot) {
  SandboxPlan skeleton = host_plan();
  SandboxPlan overlay = host_plan();
  ASSERT_TRUE(sys::make_dir(directory() + "/empty", 0755).ok());
  overlay.files.overlays.push_back(
      {model::GuestPath("/"), {model::HostPath(directory() + "/empty")}, std::nullopt});
  for (const SandboxPlan& plan : {skeleton, overlay}) {
    auto sandbox = must_start(plan);
    ASSERT_NE(sandbox, nullptr);
    EXPECT_EQ(run(*sandbox, kCompareRoots).output, "same");
  }
}

TEST_F(ContainerFiles, OnlyWhatThePlanNamesIsMounted) {
  SandboxPlan plan = host_plan();
  add_workspace(plan, "/w");
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  std::string devices =
      "/dev/full /dev/mqueue /dev/null /dev/pts /dev/random /dev/shm /dev/tty "
      "/dev/urandom /dev/zero";
  EXPECT_EQ(output_of(*sandbox,
                      "echo $(cut -d' ' -f5 /proc/self/mountinfo | sort | grep -v '^/proc/.' | "
                      "grep -v '^/sys/.')"),
            "/ " + devices + " /etc /home/user /proc /run /sys /tmp /usr /var/tmp /w");
}

TEST_F(ContainerFiles, DevicesTerminalsAndSharedMemoryWork) {
  auto sandbox = must_start(host_plan());
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(output_of(*sandbox, "echo $(ls /dev)"),
            "fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero");
  EXPECT_EQ(output_of(*sandbox,
                      "head -c 4 /dev/zero | od -An -tx1; echo x > /dev/null; "
                      "head -c 8 /dev/urandom | wc -c; echo y > /dev/shm/s; cat /dev/shm/s"),
            "00 00 00 00\n8\ny");
  EXPECT_EQ(output_of(*sandbox, "script -qec 'echo on a terminal' /dev/null | tr -d '\\r'"),
            "on a terminal");
}

TEST_F(ContainerFiles, WritesToARootTreeVanishAndNeverReachTheHost) {
  auto sandbox = must_start(host_plan());
  ASSERT_NE(sandbox, nullptr);
  run(*sandbox, "echo mine > /etc/passwd; echo new > /etc/new");
  EXPECT_EQ(output_of(*sandbox, "cat /etc/new"), "new");
  EXPECT_FALSE(sys::exists(directory() + "/etc/new"));
  EXPECT_EQ(sys::read_file(directory() + "/etc/passwd").value(),
            "user:x:0:0::/home/user:/bin/sh\n");
}

TEST_F(ContainerFiles, AWorkspaceIsWritableAndItsChangesLieInTheUpper) {
  ASSERT_TRUE(sys::replace_file(workspace() + "/a", "old\n", 0644).ok());
  ASSERT_TRUE(sys::replace_file(workspace() + "/gone", "x", 0644).ok());
  SandboxPlan plan = host_plan();
  add_workspace(plan, "/home/user/project");
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(output_of(*sandbox,
                      "cd /home/user/project && echo new >> a && rm gone && mkdir d && "
                      "echo b > d/b && cat a d/b && ls"),
            "old\nnew\nb\na\nd");
  EXPECT_EQ(sys::read_file(workspace() + "/a").value(), "old\n");
  EXPECT_EQ(sys::read_file(upper() + "/a").value(), "old\nnew\n");
  struct stat st = sys::lstat_path(upper() + "/gone").value();
  EXPECT_TRUE(S_ISCHR(st.st_mode) && st.st_rdev == 0) << "a whiteout";
  st = sys::lstat_path(upper() + "/d/b").value();
  EXPECT_EQ(st.st_uid, ::geteuid());
  EXPECT_EQ(st.st_gid, ::getegid());
}

TEST_F(ContainerFiles, ADirectoryThatIsMadeAgainIsEmpty) {
  for (const std::string& tree : {directory() + "/etc", workspace()}) {
    ASSERT_TRUE(sys::make_dir(tree + "/d", 0755).ok());
    ASSERT_TRUE(sys::replace_file(tree + "/d/old", "", 0644).ok());
  }
  SandboxPlan plan = host_plan();
  add_workspace(plan, "/w");
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  for (const char* tree : {"/etc", "/w"}) {
    EXPECT_EQ(output_of(*sandbox, std::string("cd ") + tree +
                                      " && rm -r d && mkdir d && touch d/new && ls -A d"),
              "new")
        << tree;
  }
}

TEST_F(ContainerFiles, LayersMayHaveNamesThatOverlayOptionsCannotCarry) {
  SandboxPlan plan = host_plan();
  model::OverlayTree tree{model::GuestPath("/layers"), {}, std::nullopt};
  for (const char* name :
       {"colon:comma,", "back\\slash", "new\nline", "upperdir=x blank", "lowerdir=\"q\""}) {
    std::string lower = directory() + "/" + name;
    ASSERT_TRUE(sys::make_dir(lower, 0755).ok());
    ASSERT_TRUE(sys::replace_file(lower + "/" + std::to_string(tree.lowers.size()), "", 0644).ok());
    tree.lowers.emplace_back(lower);
  }
  plan.files.overlays.push_back(tree);
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(output_of(*sandbox, "echo $(ls /layers)"), "0 1 2 3 4");
}

TEST_F(ContainerFiles, FiveHundredLayersAreMountedTopFirst) {
  SandboxPlan plan = host_plan();
  model::OverlayTree tree{model::GuestPath("/deep"), {}, std::nullopt};
  for (int i = 0; i < 500; ++i) {
    std::string lower = directory() + "/layer-with-a-long-name-" + std::to_string(i);
    ASSERT_TRUE(sys::make_dir(lower, 0755).ok());
    if (i % 499 == 0) {
      ASSERT_TRUE(sys::replace_file(lower + "/f", std::to_string(i), 0644).ok());
    }
    tree.lowers.emplace_back(lower);
  }
  plan.files.overlays.push_back(tree);
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(output_of(*sandbox, "cat /deep/f"), "0");
}

TEST_F(ContainerFiles, BindsAreReadOnlyUnlessGiven) {
  ASSERT_TRUE(sys::replace_file(workspace() + "/a", "a", 0644).ok());
  SandboxPlan plan = host_plan();
  plan.files.binds.push_back({model::GuestPath("/given/ro"), model::HostPath(workspace())});
  plan.files.binds.push_back(
      {model::GuestPath("/given/rw"), model::HostPath(workspace()), model::Access::read_write});
  plan.files.binds.push_back(
      {model::GuestPath("/given/file"), model::HostPath(workspace() + "/a")});
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(output_of(*sandbox, "cat /given/ro/a /given/rw/a /given/file"), "aaa");
  EXPECT_NE(run(*sandbox, "echo x > /given/ro/new").status, 0);
  EXPECT_NE(run(*sandbox, "echo x > /given/file").status, 0);
  EXPECT_EQ(output_of(*sandbox, "echo x > /given/rw/new; cat /given/ro/new"), "x");
  EXPECT_EQ(sys::lstat_path(workspace() + "/new")->st_uid, ::geteuid());
}

TEST_F(ContainerFiles, ADeniedPathCanNeitherBeReadNorWritten) {
  ASSERT_TRUE(sys::replace_file(workspace() + "/secret", "s", 0644).ok());
  ASSERT_TRUE(sys::make_dir(workspace() + "/private", 0755).ok());
  ASSERT_TRUE(sys::replace_file(workspace() + "/private/key", "k", 0644).ok());
  ASSERT_EQ(::symlink("private", (workspace() + "/link").c_str()), 0);
  SandboxPlan plan = host_plan();
  add_workspace(plan, "/w");
  for (const char* path : {"/w/secret", "/w/private", "/w/link", "/w/absent"})
    plan.denied_paths.emplace_back(path);
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  for (const char* attempt :
       {"cat /w/secret", "echo x > /w/secret", "ls /w/private", "cat /w/private/key",
        "touch /w/private/x", "rm /w/secret", "mv /w/private /w/moved", "ls /w/link/"}) {
    EXPECT_NE(run(*sandbox, attempt).status, 0) << attempt;
  }
}

TEST_F(ContainerFiles, ASymlinkInTheRootLeadsNoMountElsewhere) {
  SandboxPlan plan = host_plan();
  ASSERT_EQ(::symlink("/tmp", (workspace() + "/link").c_str()), 0);
  add_workspace(plan, "/w");
  plan.files.binds.push_back({model::GuestPath("/w/link/x"), model::HostPath(workspace())});
  auto started = start(plan);
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().describe().find("/w/link/x"), std::string::npos);
}

TEST_F(ContainerFiles, AMountPointIsNeverMadeInAView) {
  SandboxPlan plan = host_plan();
  add_workspace(plan, "/w");
  plan.files.binds.push_back({model::GuestPath("/w/absent"), model::HostPath("/usr/share")});
  auto started = start(plan);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), Code::not_found);
  EXPECT_FALSE(started.error().remedy().empty());
  EXPECT_FALSE(sys::exists(upper() + "/absent"));
}

TEST_F(ContainerFiles, ADirectoryServesAsRootAndItsOwnDevIsCovered) {
  std::string rootfs = directory() + "/rootfs";
  for (const char* name : {"", "/usr", "/etc", "/dev", "/proc"}) {
    ASSERT_TRUE(sys::make_dir(rootfs + name, 0755).ok());
  }
  for (const char* name : {"bin", "lib", "lib64"}) {
    ASSERT_EQ(::symlink((std::string("usr/") + name).c_str(), (rootfs + "/" + name).c_str()), 0);
  }
  // CVE-2025-31133: what is called /dev/null in an image is not what it is called.
  ASSERT_EQ(::symlink("/proc/sys/kernel/core_pattern", (rootfs + "/dev/null").c_str()), 0);
  SandboxPlan plan = host_plan();
  plan.files.symlinks.clear();
  plan.files.overlays = {{model::GuestPath("/"), {model::HostPath(rootfs)}, std::nullopt},
                         {model::GuestPath("/usr"), {model::HostPath("/usr")}, std::nullopt}};
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(output_of(*sandbox, "stat -c '%F %t,%T' /dev/null; touch /x && ls -d /x"),
            "character special file 1,3\n/x");
  EXPECT_FALSE(sys::exists(rootfs + "/x"));
}

TEST_F(ContainerFiles, ScratchSpaceIsBounded) {
  SandboxPlan plan = host_plan();
  plan.limits.disk_bytes = 16u << 20;
  plan.limits.shm_bytes = 4u << 20;
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  EXPECT_TRUE(sandbox->limits_hit().empty());
  EXPECT_NE(output_of(*sandbox, "dd if=/dev/zero of=/tmp/f bs=1M count=32 2>&1 || true")
                .find("No space left"),
            std::string::npos);
  auto hits = sandbox->limits_hit();
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_EQ(hits[0].rule, "limits.disk");
  EXPECT_FALSE(hits[0].remedy.empty());
  EXPECT_NE(output_of(*sandbox, "dd if=/dev/zero of=/dev/shm/f bs=1M count=8 2>&1 || true")
                .find("No space left"),
            std::string::npos);
}

TEST_F(ContainerFiles, TheAgentsProgramCannotBeReachedForWriting) {
  auto sandbox = must_start(host_plan());
  ASSERT_NE(sandbox, nullptr);
  EXPECT_NE(run(*sandbox, "exec 9>>/proc/1/exe").status, 0);
  EXPECT_NE(run(*sandbox, "cat /proc/1/exe > /dev/null").status, 0);
  EXPECT_EQ(output_of(*sandbox, "grep -c guest_shell /proc/1/mountinfo || true"), "0");
}

}  // namespace
}  // namespace paddock::isolation::testing
