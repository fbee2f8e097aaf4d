#include "engine/live/catalogue.h"

#include <gtest/gtest.h>

#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

class CatalogueOfLive : public ::testing::Test {
 protected:
  LiveInfo make() {
    LiveInfo info;
    info.id = model::SandboxId::from_entropy("12345678");
    info.template_name = "base";
    info.state = SandboxState::running;
    info.created_ms = 1000;
    info.deadline_ms = 2000;
    info.metadata = {{"k", "ä \"quoted\""}};
    info.owner = {model::KeyId::from_entropy("87654321")};
    return info;
  }

  sys::testing::TempDir dir_;
  store::Database database_ = store::Database::open(dir_.path() + "/paddock.db").value();
  Catalogue catalogue_{database_};
};

TEST_F(CatalogueOfLive, GivesBackWhatWasPutIn) {
  LiveInfo info = make();
  ASSERT_TRUE(catalogue_.add(info).ok());
  info.deadline_ms = 5000;
  ASSERT_TRUE(catalogue_.set_deadline(info).ok());
  info.kept = Keep::files;
  ASSERT_TRUE(catalogue_.set_state(info).ok());
  ASSERT_TRUE(catalogue_.set_layer(info.id, "of its own").ok());
  const auto rows = catalogue_.list().value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kept, Keep::files);
  EXPECT_EQ(rows[0].layer, "of its own");
  EXPECT_EQ(rows[0].id, info.id);
  EXPECT_EQ(rows[0].state, SandboxState::running);
  EXPECT_EQ(rows[0].deadline_ms, 5000);
  EXPECT_EQ(rows[0].metadata, info.metadata);
  EXPECT_EQ(rows[0].owner, info.owner);
}

TEST_F(CatalogueOfLive, WhatEndedLongAgoIsForgotten) {
  LiveInfo info = make();
  ASSERT_TRUE(catalogue_.add(info).ok());
  ASSERT_TRUE(database_.execute("UPDATE live_sandbox SET state = 'gone', ended_ms = 1").ok());
  ASSERT_TRUE(catalogue_.forget_old().ok());
  EXPECT_TRUE(catalogue_.list().value().empty());
}

}  // namespace
}  // namespace paddock::engine
