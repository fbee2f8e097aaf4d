#include "isolation/container/controls.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <set>

#include "isolation/container/confinement.h"

namespace paddock::isolation::container {
namespace {

using model::ControlState;

HostFacts with_cgroups() {
  HostFacts facts;
  facts.landlock_abi = 6;
  facts.cpus = 4;
  for (const char* controller : {"memory", "pids", "cpu"}) facts.cgroups.v1[controller] = "/x";
  return facts;
}

HostFacts without_cgroups() {
  HostFacts facts;
  facts.cpus = 4;
  facts.cgroups.reason = "nothing is delegated";
  facts.cgroups.remedy = "delegate";
  return facts;
}

SandboxPlan plan() {
  SandboxPlan out;
  out.home = model::GuestPath("/home/user");
  out.limits.cpus = 1.5;
  return out;
}

std::map<std::string, model::Control> by_name(const SandboxPlan& p, const HostFacts& facts) {
  std::map<std::string, model::Control> controls;
  for (model::Control& control : decide_controls(p, facts)) {
    EXPECT_FALSE(control.detail.empty()) << control.name;
    EXPECT_TRUE(controls.emplace(control.name, control).second) << control.name << " twice";
  }
  return controls;
}

std::map<int, uint64_t> limits_of(const HostFacts& facts) {
  wire::Start start;
  add_resource_limits(plan(), facts, start);
  std::map<int, uint64_t> limits;
  for (const auto& limit : start.limits()) limits[limit.resource()] = limit.value();
  return limits;
}

TEST(Controls, ACgroupEnforcesTheLimitsItCounts) {
  auto controls = by_name(plan(), with_cgroups());
  for (const char* name : {"limits.memory", "limits.pids", "limits.cpus"}) {
    EXPECT_EQ(controls.at(name).state, ControlState::enforced) << name;
  }
}

TEST(Controls, WithoutCgroupsTheDecisionSaysWhatIsApproximatedAndWhatToDo) {
  auto controls = by_name(plan(), without_cgroups());
  for (const char* name : {"limits.memory", "limits.cpus"}) {
    EXPECT_EQ(controls.at(name).state, ControlState::approximated) << name;
    EXPECT_NE(controls.at(name).detail.find("delegate"), std::string::npos) << name;
  }
  EXPECT_EQ(controls.at("limits.pids").state, ControlState::enforced);
  EXPECT_NE(controls.at("limits.pids").detail.find("not reported"), std::string::npos);
  EXPECT_EQ(controls.at("landlock").state, ControlState::refused);
}

TEST(Controls, DiskIsEnforcedOnScratchAndApproximatedOnTheHostsDisk) {
  SandboxPlan p = plan();
  EXPECT_EQ(by_name(p, with_cgroups()).at("limits.disk").state, ControlState::enforced);
  p.files.overlays.push_back({model::GuestPath("/w"), {}, model::UpperDirs{}});
  EXPECT_EQ(by_name(p, with_cgroups()).at("limits.disk").state, ControlState::approximated);
  p.files.overlays.clear();
  p.files.binds.push_back({model::GuestPath("/w"), {}, model::Access::read_write});
  EXPECT_EQ(by_name(p, with_cgroups()).at("limits.disk").state, ControlState::approximated);
}

TEST(Controls, UppersThatATmpfsCannotHoldAreOnTheHostsDisk) {
  SandboxPlan p = plan();
  p.files.overlays.push_back({model::GuestPath("/usr"), {}, std::nullopt});
  HostFacts facts = with_cgroups();
  EXPECT_EQ(by_name(p, facts).at("limits.disk").state, ControlState::enforced);
  facts.tmpfs_holds_uppers = false;
  EXPECT_EQ(by_name(p, facts).at("limits.disk").state, ControlState::approximated);
}

TEST(Controls, DeniedPathsAreAControlOfTheirOwn) {
  SandboxPlan p = plan();
  EXPECT_EQ(by_name(p, with_cgroups()).count("files.deny"), 0u);
  p.denied_paths.emplace_back("/w/x");
  EXPECT_EQ(by_name(p, with_cgroups()).at("files.deny").state, ControlState::approximated);
}

TEST(Controls, ScratchIsMemoryAndNeverMayHoldMore) {
  model::Limits limits;
  limits.memory_bytes = 100;
  limits.disk_bytes = 1000;
  limits.shm_bytes = 500;
  EXPECT_EQ(scratch_bytes(limits), 100u);
  EXPECT_EQ(shm_bytes(limits), 100u);
}

TEST(Confinement, ResourceLimitsStandInOnlyWhereNoCgroupCounts) {
  auto with = limits_of(with_cgroups());
  auto without = limits_of(without_cgroups());
  EXPECT_EQ(with.count(RLIMIT_NPROC) + with.count(RLIMIT_DATA), 0u);
  EXPECT_EQ(without.at(RLIMIT_NPROC), plan().limits.pids);
  EXPECT_EQ(without.at(RLIMIT_DATA), plan().limits.memory_bytes);
  EXPECT_EQ(with.at(RLIMIT_NOFILE), allowed_open_files(plan().limits));
  EXPECT_EQ(with.at(RLIMIT_FSIZE), plan().limits.disk_bytes);
}

TEST(Confinement, LandlockAllowsWritesWhereThePlanDoes) {
  SandboxPlan p = plan();
  p.files.overlays.push_back({model::GuestPath("/w"), {}, std::nullopt});
  p.files.binds.push_back({model::GuestPath("/ro"), {}, model::Access::read_only});
  p.files.binds.push_back({model::GuestPath("/rw"), {}, model::Access::read_write});
  wire::Start start;
  add_landlock_rules(p, start);
  std::set<std::string> writable;
  std::set<std::string> readable;
  for (const auto& rule : start.landlock()) {
    (rule.rights() == wire::PathRule::READ_WRITE ? writable : readable).insert(rule.path());
  }
  EXPECT_EQ(readable, (std::set<std::string>{"/"}));
  for (const char* path : {"/w", "/rw", "/tmp", "/home/user", "/dev"}) {
    EXPECT_EQ(writable.count(path), 1u) << path;
  }
  EXPECT_EQ(writable.count("/ro") + writable.count("/sys") + writable.count("/usr"), 0u);
}

TEST(Confinement, NoMoreFilesAreOfferedThanTheCallerMayHave) {
  struct rlimit ours {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &ours), 0);
  model::Limits limits;
  limits.open_files = 16;
  EXPECT_EQ(allowed_open_files(limits), 16u);
  limits.open_files = ours.rlim_max;
  if (ours.rlim_max != RLIM_INFINITY) ++limits.open_files;
  EXPECT_EQ(allowed_open_files(limits), ours.rlim_max);
}

TEST(Confinement, AFractionOfAProcessorTakesAWholeOne) {
  model::Limits limits;
  EXPECT_EQ(allowed_cpus(limits, 4), 4u);
  limits.cpus = 0.2;
  EXPECT_EQ(allowed_cpus(limits, 4), 1u);
  limits.cpus = 1.5;
  EXPECT_EQ(allowed_cpus(limits, 4), 2u);
  limits.cpus = 64;
  EXPECT_EQ(allowed_cpus(limits, 4), 4u);
}

}  // namespace
}  // namespace paddock::isolation::container
