#include "egress/pushes/push_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/json.hpp>

#include "model/json.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::egress {
namespace {

class PushStoreTest : public ::testing::Test {
 protected:
  HeldPush about(const std::string& ref) {
    HeldPush push;
    push.sandbox = model::SandboxId::from_entropy("12345678");
    push.host = "git.example";
    push.path = "/acme/app.git";
    push.repository = "acme/app";
    push.rule = "egress:1";
    push.changes = {{std::string(40, '0'), std::string(40, 'a'), ref}};
    return push;
  }
  Result<HeldPush> hold(const std::string& ref, const std::string& bytes = "PACK") {
    PushWriter writer = PD_TRY(store_.begin(about(ref)));
    PD_TRY(writer.add(bytes));
    return writer.finish();
  }

  sys::testing::TempDir dir_;
  std::string place_ = dir_.path() + "/pushes";
  PushStore store_{place_, {.bytes = 100, .of_sandbox = 3, .of_installation = 4}};
};

TEST_F(PushStoreTest, WhatIsHeldIsFoundAgain) {
  const HeldPush held = hold("refs/heads/main").value();
  const HeldPush found = store_.find(held.id.str().substr(0, 5)).value();
  EXPECT_EQ(found.changes, held.changes);
  EXPECT_EQ(found.bytes, 4u);
  EXPECT_EQ(found.url(), "https://git.example/acme/app.git");
  EXPECT_EQ(sys::read_file(store_.request_path(held.id)).value(), "PACK");
  EXPECT_EQ(sys::stat_path(store_.request_path(held.id)).value().st_mode & 0777, 0600u);
  EXPECT_EQ(sys::stat_path(place_).value().st_mode & 0777, 0700u);
  EXPECT_EQ(store_.find_same(about("refs/heads/main")).value()->id, held.id);
  EXPECT_FALSE(store_.find_same(about("refs/heads/other")).value().has_value());
  EXPECT_EQ(store_.find("zzzz").error().code(), Code::not_found);
  EXPECT_EQ(store_.find("z").error().code(), Code::invalid_argument);
}

TEST_F(PushStoreTest, WhatIsNotFinishedLeavesNothing) {
  { ASSERT_TRUE(store_.begin(about("refs/heads/main")).value().add("x").ok()); }
  EXPECT_TRUE(store_.all().value().empty());
  EXPECT_EQ(sys::list_dir(sys::open_dir(place_).value()).value().size(), 1u);  // the lock
}

TEST_F(PushStoreTest, SizeAndNumberAreBounded) {
  EXPECT_EQ(hold("refs/heads/big", std::string(101, 'x')).error().code(), Code::resource_exhausted);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(hold("refs/heads/" + std::to_string(i)).ok());
  EXPECT_EQ(hold("refs/heads/more").error().code(), Code::resource_exhausted);
  HeldPush other = about("refs/heads/main");
  other.sandbox = model::SandboxId::from_entropy("87654321");
  ASSERT_TRUE(store_.begin(other).value().finish().ok());
  EXPECT_EQ(store_.begin(other).error().code(), Code::resource_exhausted);
}

TEST_F(PushStoreTest, RecordsOfReleasedOnesMakeRoom) {
  for (int i = 0; i < 9; ++i) {
    HeldPush push = hold("refs/heads/" + std::to_string(i)).value();
    push.state = PushState::released;
    ASSERT_TRUE(store_.save(push).ok());
    ASSERT_TRUE(store_.forget_request(push.id).ok());
  }
  EXPECT_EQ(store_.all().value().size(), 4u);
}

TEST_F(PushStoreTest, OneAtATimeReleasesIt) {
  const HeldPush held = hold("refs/heads/main").value();
  auto first = store_.lock(held.id);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(store_.lock(held.id).error().code(), Code::failed_precondition);
}

TEST(HeldPush, ARecordThatWasChangedIsRefused) {
  HeldPush push;
  push.id = model::PushId::from_entropy("12345678");
  push.sandbox = model::SandboxId::from_entropy("12345678");
  push.changes = {{std::string(40, '0'), std::string(40, 'a'), "refs/heads/\xff"}};
  const std::string text = model::json_text(to_json(push));
  EXPECT_EQ(parse_held_push(text).value().changes, push.changes);
  for (const char* bad : {"", "[]", "{}", R"({"id": "../../x"})"}) {
    EXPECT_FALSE(parse_held_push(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace paddock::egress
