#include "agent/denial_log.h"

#include <gtest/gtest.h>

#include <vector>

namespace paddock::agent {
namespace {

class Denials : public ::testing::Test {
 protected:
  Denials() { log_.set_limit(3); }

  void note(const std::string& what, uint64_t count = 1) {
    log_.note({.kind = wire::Denied::NAME, .what = what}, count);
  }

  // What a host would receive.
  std::vector<wire::Denied> reported() {
    wire::AgentChannel agent;
    wire::HostChannel host;
    log_.report(agent);
    EXPECT_TRUE(host.receive(agent.output()).ok());
    std::vector<wire::Denied> out;
    while (auto event = host.next_event()) out.push_back(std::get<wire::ToHost>(*event).denied());
    return out;
  }

  DenialLog log_;
};

TEST_F(Denials, EqualOnesAreOneRecordWithACount) {
  note("a");
  note("b");
  note("a", 4);
  const auto all = reported();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].what(), "a");
  EXPECT_EQ(all[0].count(), 5u);
  EXPECT_GT(all[0].first_ms(), 0);
  EXPECT_EQ(all[1].count(), 1u);
}

TEST_F(Denials, AreReportedOnceAndLaterOnesByTheirOwnCount) {
  note("a", 7);
  EXPECT_EQ(reported().size(), 1u);
  EXPECT_FALSE(log_.has_news());
  EXPECT_TRUE(reported().empty());
  note("a", 2);
  EXPECT_TRUE(log_.has_news());
  EXPECT_EQ(reported().at(0).count(), 2u);
}

TEST_F(Denials, BeyondTheLimitAreCountedNotKept) {
  for (const char* what : {"a", "b", "c", "d", "e", "e"}) note(what);
  const auto all = reported();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].dropped(), 3u);
}

TEST_F(Denials, RecordThatIsKeptGoesOnCountingBeyondTheLimit) {
  for (const char* what : {"a", "b", "c", "d"}) note(what);
  (void)reported();
  note("a");
  EXPECT_EQ(reported().at(0).what(), "a");
}

TEST_F(Denials, DroppedOnesAreReportedWithoutARecordToCarryThem) {
  log_.note_lost(9);
  const auto all = reported();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].what(), "");
  EXPECT_EQ(all[0].count(), 0u);
  EXPECT_EQ(all[0].dropped(), 9u);
  EXPECT_TRUE(reported().empty());
}

}  // namespace
}  // namespace paddock::agent
