#include "agent/evidence.h"

#include <gtest/gtest.h>

#include "sys/files.h"

namespace paddock::agent {
namespace {

constexpr char kStatus[] =
    "Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t1001\t0\t0\t0\nGroups:\t27 100 \nRssAnon:\t     512 kB\n"
    "CapInh:\t0000000000000001\nCapPrm:\t0000000000000002\nCapEff:\t0000000000000004\n"
    "CapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000008\nNoNewPrivs:\t1\nSeccomp:\t2\n"
    "Seccomp_filters:\t3\n";

TEST(Evidence, ReadsEachFieldOfAStatus) {
  wire::Evidence seen;
  ASSERT_TRUE(parse_status(kStatus, seen).ok());
  EXPECT_EQ(seen.seccomp_mode(), 2u);
  EXPECT_EQ(seen.seccomp_filters(), 3u);
  EXPECT_EQ(seen.cap_inheritable(), 1u);
  EXPECT_EQ(seen.cap_permitted(), 2u);
  EXPECT_EQ(seen.cap_effective(), 4u);
  EXPECT_EQ(seen.cap_bounding(), 0x1ffffffffffu);
  EXPECT_EQ(seen.cap_ambient(), 8u);
  EXPECT_TRUE(seen.no_new_privs());
  EXPECT_EQ(seen.uid(), 1000u);
  EXPECT_EQ(seen.gid(), 1001u);
  EXPECT_EQ(seen.agent_private_bytes(), 512u * 1024);
  ASSERT_EQ(seen.groups_size(), 2);
  EXPECT_EQ(seen.groups(1), 100u);
}

TEST(Evidence, FieldThatIsMissingIsAnErrorAndNotZero) {
  const std::string whole = kStatus;
  for (const char* key : {"Seccomp:", "CapBnd:", "NoNewPrivs:", "Uid:"}) {
    std::string cut = whole;
    cut.replace(cut.find(key), 1, "?");
    wire::Evidence seen;
    EXPECT_FALSE(parse_status(cut, seen).ok()) << key;
  }
}

TEST(Evidence, IsGatheredFromAProbeOfThisProcess) {
  auto seen = gather_evidence({});
  ASSERT_TRUE(seen.ok()) << seen.error().describe();
  EXPECT_EQ(seen->uid_map(), sys::read_file("/proc/self/uid_map").value());
  EXPECT_EQ(seen->namespaces_size(), 8);
}

}  // namespace
}  // namespace paddock::agent
