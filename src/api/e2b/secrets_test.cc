#include "api/e2b/secrets.h"

#include <gtest/gtest.h>

#include "sys/files.h"
#include "sys/random.h"
#include "sys/testing/temp_dir.h"

namespace paddock::api::e2b {
namespace {

class Secrets : public ::testing::Test {
 protected:
  sys::testing::TempDir dir_;
  SecretBook book_{dir_.path() + "/secrets"};
  const model::Caller keeper_{.sees = model::Caller::Sees::all};
};

TEST_F(Secrets, AreFoundByNameAndId) {
  EXPECT_TRUE(book_.list(keeper_).value().empty());
  auto made = book_.create(keeper_, "OpenAI", {"sk-1", {{"team", "a"}}});
  ASSERT_TRUE(made.ok()) << made.error().describe();
  EXPECT_EQ(made->name, "openai");
  EXPECT_TRUE(made->id.starts_with("sec_"));
  EXPECT_EQ(book_.find(keeper_, "openai")->id, made->id);
  EXPECT_EQ(book_.find(keeper_, made->id)->metadata.at("team"), "a");
  EXPECT_EQ(book_.value_of(keeper_, "OPENAI")->reveal(), "sk-1");
  EXPECT_EQ(book_.create(keeper_, "openai", {"x", {}}).error().code(), Code::already_exists);
}

TEST_F(Secrets, AreReplacedAndRemoved) {
  ASSERT_TRUE(book_.create(keeper_, "a", {"one", {}}).ok());
  auto changed = book_.replace(keeper_, "a", {"two", {{"k", "v"}}});
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(changed->version, 2);
  EXPECT_EQ(book_.value_of(keeper_, "a")->reveal(), "two");
  ASSERT_TRUE(book_.remove(keeper_, "a").ok());
  for (const Status& gone : {book_.remove(keeper_, "a"), Status(book_.find(keeper_, "a").error()),
                             Status(book_.replace(keeper_, "a", {"x", {}}).error())}) {
    EXPECT_EQ(gone.error().code(), Code::not_found);
  }
}

TEST_F(Secrets, RefuseWhatCannotBeSentOrNamed) {
  for (const char* name : {"", "a b", "../x", "sec_x"}) {
    EXPECT_EQ(book_.create(keeper_, name, {"v", {}}).error().code(), Code::invalid_argument)
        << name;
  }
  for (const std::string& value : {std::string(), std::string("a\nb"), std::string(9000, 'x')}) {
    EXPECT_EQ(book_.create(keeper_, "n", {value, {}}).error().code(), Code::invalid_argument);
  }
}

TEST_F(Secrets, BelongToAKey) {
  const model::Caller one{.owner = {model::KeyId::from_entropy(sys::random_bytes(16))}},
      other{.owner = {model::KeyId::from_entropy(sys::random_bytes(16))}};
  const auto made = book_.create(one, "name", {"of one", {}});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(book_.find(other, "name").error().code(), Code::not_found);
  EXPECT_EQ(book_.value_of(other, made->id).error().code(), Code::not_found);
  EXPECT_EQ(book_.remove(other, made->id).error().code(), Code::not_found);
  ASSERT_TRUE(book_.create(other, "name", {"of the other", {}}).ok());
  EXPECT_EQ(book_.value_of(one, "name")->reveal(), "of one");
  EXPECT_EQ(book_.list(one)->size(), 1u);
  EXPECT_EQ(book_.list(keeper_)->size(), 2u);
}

TEST_F(Secrets, SayNothingOnDisk) {
  ASSERT_TRUE(
      book_.create(keeper_, "visible-name", {"visible-value", {{"visible-key", "x"}}}).ok());
  const sys::DirFd dir = sys::open_dir(dir_.path() + "/secrets").value();
  const std::vector<sys::DirEntry> entries = sys::list_dir(dir).value();
  ASSERT_FALSE(entries.empty());
  for (const sys::DirEntry& entry : entries) {
    EXPECT_EQ(entry.name.find("visible"), std::string::npos);
    const auto text = sys::read_file(dir_.path() + "/secrets/" + entry.name, 1 << 16);
    EXPECT_EQ(text->find("visible"), std::string::npos);
  }
}

}  // namespace
}  // namespace paddock::api::e2b
