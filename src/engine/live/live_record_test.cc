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
  setup.placeholder_key = "\x01key";
  setup.stopped_by = LiveSetup::StoppedBy::isolation;
  setup.host_mask = "masked";
  setup.ports_are_guarded = true;
  const auto view = model::ViewId::from_entropy("87654321");
  setup.workspace = {
      model::HostPath("/srv/\xff"), model::HostPath("/link"), view, {model::HostPath("/views/u")}};
  LiveRecord record{setup, "base", {{"MADE", "with"}}, {}, 7, {}};
  record.lifecycle = {Lifecycle::AtDeadline::pause, Keep::files, true};
  record.network.text = R"({"allowOut":["a.example"]})";
  record.network.internet = false;
  ASSERT_TRUE(records_.put(id_, record).ok());
  const auto whole = records_.find(id_).value();
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->main_command, 7u);
  EXPECT_EQ(whole->base_template, "base");
  EXPECT_EQ(whole->environment, record.environment);
  EXPECT_EQ(whole->lifecycle.at_deadline, Lifecycle::AtDeadline::pause);
  EXPECT_EQ(whole->lifecycle.keep, Keep::files);
  EXPECT_TRUE(whole->lifecycle.auto_resume);
  EXPECT_EQ(whole->network.text, record.network.text);
  EXPECT_EQ(whole->network.internet, std::optional(false));
  EXPECT_EQ(whole->network.host_mask, "masked");
  EXPECT_EQ(whole->network.traffic, NetworkRequest::Traffic::with_token);
  const LiveSetup* found = &whole->setup;
  EXPECT_EQ(found->placeholder_key, setup.placeholder_key);
  EXPECT_EQ(found->stopped_by, LiveSetup::StoppedBy::isolation);
  EXPECT_EQ(found->decision.controls.at(0).name, "seccomp");
  ASSERT_TRUE(found->workspace);
  EXPECT_EQ(found->workspace->directory, model::HostPath("/srv/\xff"));
  EXPECT_EQ(found->workspace->as_spelled, model::HostPath("/link"));
  EXPECT_EQ(found->workspace->view, std::optional(view));
  EXPECT_EQ(found->workspace->uppers, std::vector{model::HostPath("/views/u")});
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
