#include "engine/live/run_table.h"

#include <gtest/gtest.h>

#include "sys/clock.h"
#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

class RunTableTest : public ::testing::Test {
 protected:
  static EndedRun run(const std::string& sandbox, int64_t ended_ms) {
    EndedRun run;
    run.sandbox = sandbox;
    run.owner.reach = model::Owner::Reach::socket;
    run.argv = {"printf", "\xff"};
    run.outcome.ending = model::Ending::exited;
    run.outcome.code = 3;
    run.output = output_line({OutputKind::standard_error, "bytes\xff", 7});
    run.ended_ms = ended_ms;
    return run;
  }

  sys::testing::TempDir dir_;
  store::Database database_ = store::Database::open(dir_.path() + "/paddock.db").value();
  RunTable table_{database_};
};

TEST_F(RunTableTest, GivesBackWhatWasPutIn) {
  ASSERT_TRUE(table_.put(run("a", 5)).ok());
  const auto found = table_.find("a").value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->argv, (std::vector<std::string>{"printf", "\xff"}));
  EXPECT_EQ(found->outcome.code, 3);
  EXPECT_EQ(found->owner.reach, model::Owner::Reach::socket);
  EXPECT_EQ(found->output, run("a", 5).output);
  EXPECT_FALSE(table_.find("b").value());
}

TEST_F(RunTableTest, ListsTheNewestFirstAndForgetsOldOnes) {
  const int64_t now = sys::wall_clock_ms();
  ASSERT_TRUE(table_.put(run("old", 5)).ok());
  ASSERT_TRUE(table_.put(run("new", now)).ok());
  ASSERT_TRUE(table_.put(run("newer", now + 1)).ok());
  ASSERT_TRUE(table_.forget_old().ok());
  const auto all = table_.list().value();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].sandbox, "newer");
}

}  // namespace
}  // namespace paddock::engine
