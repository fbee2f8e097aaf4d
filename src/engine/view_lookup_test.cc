#include "engine/view_lookup.h"

#include <gtest/gtest.h>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"
#include "view/view_store.h"

namespace paddock::engine {
namespace {

class ViewLookupTest : public ::testing::Test {
 protected:
  ViewLookupTest() {
    EXPECT_TRUE(sys::make_dirs(tmp_.path() + "/home", 0700).ok());
    EXPECT_TRUE(sys::make_dirs(tmp_.path() + "/ws", 0755).ok());
    auto opened = views_->create({.workspace = model::HostPath(real_ + "/ws"), .home = home_});
    auto open = std::move(opened).value();
    EXPECT_TRUE(sys::replace_file(open->trees()[0].upper->upper.str() + "/f", "f", 0644).ok());
    EXPECT_TRUE(open->finish({}).ok());
    view_ = open->id();
  }
  void add(const std::string& sandbox, const std::string& view, const std::string& state,
           const std::string& kept = "memory") {
    ASSERT_TRUE(
        database_
            .execute("INSERT INTO live_sandbox (id, template, state, created_ms, "
                     "deadline_ms, metadata, view, kept) VALUES (?, '', ?, 0, 0, '{}', ?, ?)",
                     {sandbox, state, view, kept})
            .ok());
  }
  Error held() const {
    return Error(Code::failed_precondition, "a command runs in this view").set_remedy("wait");
  }

  sys::testing::TempDir tmp_;
  std::string real_ = sys::real_path(tmp_.path()).value();
  model::HostPath home_{(sys::make_dirs(real_ + "/home", 0700).ok(), real_ + "/home")};
  store::Database database_ = store::Database::open(real_ + "/home/paddock.db").value();
  std::unique_ptr<view::ViewStore> views_ = view::open_view_store(home_, database_).value();
  model::ViewId view_;
};

TEST_F(ViewLookupTest, AViewIsFoundByItsOwnIdAndByThatOfASandboxThatIsGone) {
  add("zzzzaaaa", view_.str(), "gone");
  EXPECT_EQ(find_view(*views_, database_, view_.str().substr(0, 6)).value().id, view_);
  EXPECT_EQ(find_view(*views_, database_, "zzzza").value().id, view_);
}

TEST_F(ViewLookupTest, WhatIsNotThereOrNotOneIsSaid) {
  add("zzzzaaaa", view_.str(), "gone");
  add("zzzzbbbb", "0123456789abcdef", "gone");
  EXPECT_EQ(find_view(*views_, database_, "yyyy").error().code(), Code::not_found);
  EXPECT_EQ(find_view(*views_, database_, "zzzz").error().code(), Code::invalid_argument);
  const auto unchanged = find_view(*views_, database_, "zzzzb");
  EXPECT_EQ(unchanged.error().code(), Code::not_found);
}

TEST_F(ViewLookupTest, WhoHoldsAViewIsSaidWithTheRemedy) {
  add("zzzzaaaa", view_.str(), "running");
  EXPECT_NE(name_holder(database_, view_, held()).remedy().find("pause --files-only zzzzaaaa"),
            std::string::npos);
  EXPECT_EQ(name_holder(database_, view_, Error(Code::conflict, "x")).remedy(), "");
}

TEST_F(ViewLookupTest, WhoIsAsleepOrGoneHoldsNone) {
  add("zzzzaaaa", view_.str(), "gone");
  add("zzzzbbbb", view_.str(), "paused", "files");
  EXPECT_EQ(name_holder(database_, view_, held()).remedy(), "wait");
}

}  // namespace
}  // namespace paddock::engine
