#include "engine/live/live_record.h"

#include <gtest/gtest.h>

#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

class LiveRecordsTest : public ::testing::Test {
 protected:
  sys::testing::TempDir dir_;
  store::Database database_ = store::Database::open(dir_.path() + "/paddock.db").value();
  LiveRecords records_{database_};
  model::SandboxId id_ = model::SandboxId::from_entropy("12345678");
};

TEST_F(LiveRecordsTest, GiveBackWhatWasPutIn) {
  LiveSetup setup;
  setup.decision.level = model::Level::container;
  setup.decision.controls = {{"seccomp", model::ControlState::enforced, "by table"}};
  setup.limits.cpus = 1.5;
  setup.limits.memory_bytes = 123;
  setup.limits.open_files = 77;
  setup.home = "/home/user";
  setup.users = isolation::Users::several;
  setup.user = {"user", 1000, 1001, {7, 8}, "/home/user", "/bin/sh"};
  setup.environment = {{"A", "1=2\n"}, {"B", "\xff"}};
  setup.start.add_limits()->set_value(5);
  ASSERT_TRUE(records_.put(id_, setup).ok());
  const auto found = records_.find(id_).value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->decision.controls.at(0).name, "seccomp");
  EXPECT_EQ(found->limits.cpus, 1.5);
  EXPECT_EQ(found->limits.memory_bytes, 123u);
  EXPECT_EQ(found->limits.open_files, 77u);
  EXPECT_EQ(found->home, "/home/user");
  EXPECT_EQ(found->users, isolation::Users::several);
  EXPECT_EQ(found->user.name, "user");
  EXPECT_EQ(found->user.gid, 1001u);
  EXPECT_EQ(found->user.groups, setup.user.groups);
  EXPECT_EQ(found->user.shell, "/bin/sh");
  EXPECT_EQ(found->environment, setup.environment);
  EXPECT_EQ(found->start.limits(0).value(), 5u);
  EXPECT_EQ(found->lifetime, isolation::Lifetime::leased);
  ASSERT_TRUE(records_.remove(id_).ok());
  EXPECT_FALSE(records_.find(id_).value());
}

TEST_F(LiveRecordsTest, SaysWhenARowIsNotWhatWasWritten) {
  for (const char* text : {"", "[]", "{}", "{\"decision\":\"!\"}"}) {
    ASSERT_TRUE(database_
                    .execute("INSERT OR REPLACE INTO live_record (id, setup) VALUES (?, ?)",
                             {id_.str(), std::string(text)})
                    .ok());
    EXPECT_FALSE(records_.find(id_).ok()) << text;
  }
}

}  // namespace
}  // namespace paddock::engine
