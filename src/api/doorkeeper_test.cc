#include "api/doorkeeper.h"

#include <gtest/gtest.h>

#include "sys/testing/temp_dir.h"

namespace paddock::api {
namespace {

net::http::RequestHead with_key(const std::string& key) {
  net::http::RequestHead head{"GET", "/sandboxes", 1, {}};
  if (!key.empty()) head.headers.add("X-API-Key", key);
  return head;
}

class AtTheDoor : public ::testing::Test {
 protected:
  sys::testing::TempDir dir_;
  store::Database database_ = store::Database::open(dir_.path() + "/paddock.db").value();
  service::Keys keys_{database_};
  service::KeyRing ring_{store::Database::open(dir_.path() + "/paddock.db").value()};
  Doorkeeper door_{ring_, Doorkeeper::Rule::when_made};
};

TEST_F(AtTheDoor, AnyKeyIsTakenUntilThereIsOne) {
  EXPECT_TRUE(door_.takes_any().value());
  EXPECT_EQ(door_.caller(with_key("any")).value()->owner, model::Owner{});
  EXPECT_FALSE(door_.caller(with_key("")).value().has_value());

  const auto made = keys_.create("ci", service::KeyScope::sandboxes).value();
  EXPECT_FALSE(door_.takes_any().value());
  EXPECT_FALSE(door_.caller(with_key("any")).value().has_value());
  const auto caller = door_.caller(with_key(made.secret)).value();
  ASSERT_TRUE(caller.has_value());
  EXPECT_EQ(caller->owner.key, made.key.id);
  EXPECT_EQ(caller->sees, model::Caller::Sees::own);

  ASSERT_TRUE(keys_.revoke("ci").ok());
  EXPECT_FALSE(door_.caller(with_key(made.secret)).value().has_value());
  EXPECT_FALSE(door_.caller(with_key("any")).value().has_value());
}

TEST_F(AtTheDoor, WhereKeysAreRequiredNoneIsTakenBeforeTheFirst) {
  Doorkeeper strict(ring_, Doorkeeper::Rule::required);
  EXPECT_FALSE(strict.takes_any().value());
  EXPECT_FALSE(strict.caller(with_key("any")).value().has_value());
}

TEST_F(AtTheDoor, AScrapersKeyReadsNumbersAndNothingElse) {
  const auto scraper = keys_.create("scraper", service::KeyScope::metrics).value();
  const auto user = keys_.create("user", service::KeyScope::sandboxes).value();
  EXPECT_FALSE(door_.caller(with_key(scraper.secret)).value().has_value());
  EXPECT_TRUE(door_.may_read_metrics(with_key(scraper.secret)).value());
  EXPECT_FALSE(door_.may_read_metrics(with_key(user.secret)).value());
  EXPECT_FALSE(door_.may_read_metrics(with_key("")).value());
  net::http::RequestHead bearer{
      "GET", "/metrics", 1, {{"Authorization", "Bearer " + scraper.secret}}};
  EXPECT_TRUE(door_.may_read_metrics(bearer).value());
}

TEST_F(AtTheDoor, WhatIsForTheSocketAloneIsSeenByNobodyWhoComesBySomethingElse) {
  const model::Owner owner{{}, model::Owner::Reach::socket};
  const model::Caller anyone{}, keeper{.sees = model::Caller::Sees::all};
  EXPECT_TRUE(anyone.may_see(model::Owner{}));
  EXPECT_FALSE(anyone.may_see(owner));
  EXPECT_TRUE(keeper.may_see(owner));
}

TEST_F(AtTheDoor, ACallerSeesHisOwn) {
  const auto one = keys_.create("one", service::KeyScope::sandboxes).value();
  const auto other = keys_.create("other", service::KeyScope::sandboxes).value();
  const auto caller = door_.caller(with_key(one.secret)).value().value();
  EXPECT_TRUE(caller.may_see({one.key.id}));
  EXPECT_FALSE(caller.may_see({other.key.id}));
  EXPECT_FALSE(caller.may_see({}));
}

}  // namespace
}  // namespace paddock::api
