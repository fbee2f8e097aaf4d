#include "isolation/container/evidence_check.h"

#include <gtest/gtest.h>
#include <linux/seccomp.h>

#include <functional>

#include "sys/capability_limits.h"

namespace paddock::isolation::container {
namespace {

constexpr const char* kNames[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"};

Expectation expectation() {
  Expectation expected;
  expected.uid_map = "0 1879048192 65536\n";
  expected.gid_map = "0 1879048192 65536\n";
  expected.landlock_abi = 6;
  for (const char* name : kNames) expected.host_namespaces[name] = 100;
  return expected;
}

wire::Evidence evidence() {
  wire::Evidence seen;
  seen.set_seccomp_mode(SECCOMP_MODE_FILTER);
  seen.set_seccomp_filters(1);
  seen.set_no_new_privs(true);
  seen.set_uid_map("         0 1879048192      65536\n");
  seen.set_gid_map("         0 1879048192      65536\n");
  seen.set_landlock_abi(6);
  seen.set_network_table(true);
  for (const char* name : kNames) (*seen.mutable_namespaces())[name] = 200;
  return seen;
}

TEST(EvidenceCheck, WhatWasDecidedIsAccepted) {
  EXPECT_TRUE(compare(expectation(), evidence()).empty());
}

struct Lie {
  const char* what;
  std::function<void(wire::Evidence&)> tell;
};

TEST(EvidenceCheck, EveryMissingControlIsAMismatch) {
  const Lie lies[] = {
      {"no seccomp", [](auto& e) { e.set_seccomp_mode(0); }},
      {"no filter", [](auto& e) { e.set_seccomp_filters(0); }},
      {"privileges may be gained", [](auto& e) { e.set_no_new_privs(false); }},
      {"effective capability", [](auto& e) { e.set_cap_effective(1); }},
      {"permitted capability", [](auto& e) { e.set_cap_permitted(1); }},
      {"inheritable capability", [](auto& e) { e.set_cap_inheritable(1); }},
      {"bounding capability", [](auto& e) { e.set_cap_bounding(1ull << 40); }},
      {"ambient capability", [](auto& e) { e.set_cap_ambient(1); }},
      {"host ids", [](auto& e) { e.set_uid_map("0 0 4294967295"); }},
      {"host groups", [](auto& e) { e.set_gid_map("0 0 4294967295"); }},
      {"another user", [](auto& e) { e.set_uid(1); }},
      {"another group", [](auto& e) { e.set_gid(1); }},
      {"a group of the host", [](auto& e) { e.add_groups(65534); }},
      {"the host's network", [](auto& e) { (*e.mutable_namespaces())["net"] = 100; }},
      {"an unreported namespace", [](auto& e) { e.mutable_namespaces()->erase("mnt"); }},
      {"an empty namespace", [](auto& e) { (*e.mutable_namespaces())["pid"] = 0; }},
      {"no network table", [](auto& e) { e.set_network_table(false); }},
      {"no Landlock", [](auto& e) { e.set_landlock_abi(0); }},
  };
  for (const Lie& lie : lies) {
    wire::Evidence seen = evidence();
    lie.tell(seen);
    EXPECT_EQ(compare(expectation(), seen).size(), 1u) << lie.what;
  }
}

TEST(EvidenceCheck, AUsersOwnGroupsAreExpectedOfAUser) {
  Expectation expected = expectation();
  expected.groups = Expectation::Groups::callers;
  wire::Evidence seen = evidence();
  seen.add_groups(65534);
  EXPECT_TRUE(compare(expected, seen).empty());
}

TEST(EvidenceCheck, ANamespaceThatTheHostDoesNotTellIsNotTakenForDifferent) {
  Expectation expected = expectation();
  expected.host_namespaces.erase("user");
  EXPECT_EQ(compare(expected, evidence()).size(), 1u);
}

TEST(EvidenceCheck, OurOwnNamespacesAreAllKnown) {
  EXPECT_EQ(own_namespaces().size(), 8u);
}

wire::Evidence with_root() {
  wire::Evidence seen = evidence();
  wire::Evidence& root = *seen.mutable_as_root();
  root = evidence();
  for (auto set : {&wire::Evidence::set_cap_effective, &wire::Evidence::set_cap_permitted,
                   &wire::Evidence::set_cap_inheritable, &wire::Evidence::set_cap_ambient}) {
    (root.*set)(sys::kUserCapabilities);
  }
  return seen;
}

TEST(EvidenceCheck, RootInsideHoldsWhatWasDecidedAndNothingElse) {
  EXPECT_TRUE(compare_root(expectation(), with_root()).empty());
  EXPECT_FALSE(compare_root(expectation(), evidence()).empty()) << "nothing reported";
  const Lie lies[] = {
      {"one capability more",
       [](auto& e) { e.set_cap_effective(sys::kUserCapabilities | 1ull << 21); }},
      {"one less", [](auto& e) { e.set_cap_permitted(sys::kUserCapabilities & ~1ull); }},
      {"a bounding set", [](auto& e) { e.set_cap_bounding(1); }},
      {"no filter", [](auto& e) { e.set_seccomp_mode(0); }},
      {"privileges may be gained", [](auto& e) { e.set_no_new_privs(false); }},
      {"not root", [](auto& e) { e.set_uid(1000); }},
      {"host ids", [](auto& e) { e.set_uid_map("0 0 4294967295"); }},
      {"a group of the host", [](auto& e) { e.add_groups(27); }},
  };
  for (const Lie& lie : lies) {
    wire::Evidence seen = with_root();
    lie.tell(*seen.mutable_as_root());
    EXPECT_FALSE(compare_root(expectation(), seen).empty()) << lie.what;
  }
}

}  // namespace
}  // namespace paddock::isolation::container
