#include "engine/live/builds/build_table.h"

#include <gtest/gtest.h>

#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

class Builds : public ::testing::Test {
 protected:
  static model::Caller caller(const char* key) {
    return {{model::KeyId::from_entropy(key)}, "", model::Caller::Sees::own};
  }
  BuiltTemplate made(const char* id, const char* name, const char* key) {
    return table_.ensure({id, name, caller(key).owner, 1}).value();
  }
  void build(const std::string& id, const std::string& of, BuildState state, int64_t ms) {
    TemplateBuild build;
    build.id = id;
    build.template_id = of;
    build.created_ms = ms;
    ASSERT_TRUE(table_.add(build).ok());
    build.state = state;
    build.base_template = "base";
    build.layer = "layer-" + id;
    ASSERT_TRUE(table_.set(build).ok());
  }

  sys::testing::TempDir tmp_;
  store::Database database_ = store::Database::open(tmp_.path() + "/paddock.db").value();
  BuildTable table_{database_};
};

TEST_F(Builds, ANameIsItsOwnersAlone) {
  EXPECT_EQ(made("t1", "app", "somebody").id, "t1");
  EXPECT_EQ(made("t2", "app", "somebody").id, "t1");  // again
  EXPECT_EQ(made("t3", "app", "another1").id, "t3");
  EXPECT_EQ(table_.find("app", caller("another1")).value()->id, "t3");
  EXPECT_FALSE(table_.find("t1", caller("another1")).value());
  EXPECT_FALSE(table_.find("app", caller("nobody12")).value());
}

TEST_F(Builds, ATagNamesAReadyBuild) {
  made("t", "app", "somebody");
  build("b1", "t", BuildState::ready, 1);
  build("b2", "t", BuildState::error, 2);
  ASSERT_TRUE(table_.set_tag("t", {"default", "b1", 3}).ok());
  ASSERT_TRUE(table_.set_tag("t", {"broken", "b2", 3}).ok());
  EXPECT_EQ(table_.find_layer("t", "default").value()->layer, "layer-b1");
  EXPECT_EQ(table_.find_layer("t", "b1").value()->layer, "layer-b1");
  EXPECT_FALSE(table_.find_layer("t", "broken").value());
  EXPECT_FALSE(table_.find_layer("t", "none").value());
  EXPECT_FALSE(table_.find_layer("other", "default").value());
  ASSERT_TRUE(table_.remove_tag("t", "default").ok());
  EXPECT_FALSE(table_.find_layer("t", "default").value());
  EXPECT_EQ(table_.tags_of("t").value().size(), 1u);
}

TEST_F(Builds, WhatAnEarlierDaemonWasAtHasFailed) {
  made("t", "app", "somebody");
  build("waits", "t", BuildState::waiting, 1);
  build("builds", "t", BuildState::building, 2);
  build("done", "t", BuildState::ready, 3);
  ASSERT_TRUE(table_.fail_unfinished("why", 9).ok());
  EXPECT_EQ(table_.find_build("waits").value()->state, BuildState::error);
  EXPECT_EQ(table_.find_build("builds").value()->reason, "why");
  EXPECT_EQ(table_.find_build("done").value()->state, BuildState::ready);
}

TEST_F(Builds, OldOnesGoUnlessATagNamesThem) {
  made("t", "app", "somebody");
  for (int i = 1; i <= 15; ++i) build("b" + std::to_string(i), "t", BuildState::ready, i);
  ASSERT_TRUE(table_.set_tag("t", {"first", "b1", 1}).ok());
  ASSERT_TRUE(table_.prune("t", 100).ok());
  EXPECT_EQ(table_.builds_of("t").value().size(), 11u);
  EXPECT_TRUE(table_.find_build("b1").value());
  EXPECT_FALSE(table_.find_build("b5").value());
}

TEST_F(Builds, ATemplateGoesWithItsBuildsAndTags) {
  made("t", "app", "somebody");
  build("b", "t", BuildState::ready, 1);
  ASSERT_TRUE(table_.set_tag("t", {"default", "b", 1}).ok());
  ASSERT_TRUE(table_.remove("t").ok());
  EXPECT_TRUE(table_.list().value().empty());
  EXPECT_FALSE(table_.find_build("b").value());
  EXPECT_TRUE(table_.tags_of("t").value().empty());
}

TEST_F(Builds, ADoneStepIsFoundByItsKeyUntilItIsOldOrItsBaseGoes) {
  DoneStep done{"layer", {}};
  done.settings.directory = "/app";
  ASSERT_TRUE(table_.put_step("key", "box", done, 1).ok());
  EXPECT_FALSE(table_.find_step("other", 2).value());
  EXPECT_EQ(table_.find_step("key", 50).value()->settings.directory, "/app");
  ASSERT_TRUE(table_.forget_steps_before(50).ok());  // it was used then
  EXPECT_TRUE(table_.find_step("key", 50).value());
  ASSERT_TRUE(table_.forget_steps_of("box").ok());
  EXPECT_FALSE(table_.find_step("key", 50).value());
}

}  // namespace
}  // namespace paddock::engine
