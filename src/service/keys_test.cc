#include "service/keys.h"

#include <gtest/gtest.h>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::service {
namespace {

class ApiKeys : public ::testing::Test {
 protected:
  std::string path() const { return dir_.path() + "/paddock.db"; }

  sys::testing::TempDir dir_;
  store::Database database_ = store::Database::open(path()).value();
  Keys keys_{database_};
  KeyRing ring_{store::Database::open(path()).value()};
};

TEST_F(ApiKeys, OpenToTheirSecretAlone) {
  EXPECT_FALSE(ring_.has_keys().value());
  const NewKey made = keys_.create("ci", KeyScope::sandboxes).value();
  EXPECT_TRUE(ring_.has_keys().value());
  ASSERT_TRUE(ring_.find(made.secret).value().has_value());
  EXPECT_EQ(ring_.find(made.secret).value()->id, made.key.id);
  EXPECT_EQ(ring_.find(made.secret).value()->label, "ci");
  for (const std::string& wrong :
       {std::string(), std::string("e2b_"), made.secret.substr(0, made.secret.size() - 1),
        made.secret + "0", made.key.id.str(), std::string("e2b_" + std::string(40, '0'))}) {
    EXPECT_FALSE(ring_.find(wrong).value().has_value()) << wrong;
  }
}

TEST_F(ApiKeys, HaveTheFormThatClientsInsistOn) {
  const std::string secret = keys_.create("ci", KeyScope::sandboxes).value().secret;
  ASSERT_EQ(secret.size(), 44u);
  EXPECT_EQ(secret.substr(0, 4), "e2b_");
  EXPECT_EQ(secret.find_first_not_of("0123456789abcdef", 4), std::string::npos);
  EXPECT_NE(secret, keys_.create("ci", KeyScope::sandboxes).value().secret);
}

TEST_F(ApiKeys, SecretsAreInNoFile) {
  const std::string secret = keys_.create("ci", KeyScope::sandboxes).value().secret;
  for (const char* suffix : {"", "-wal", "-shm"}) {
    auto bytes = sys::read_file(path() + suffix);
    if (!bytes.ok()) continue;
    EXPECT_EQ(bytes->find(secret.substr(4)), std::string::npos) << suffix;
  }
}

TEST_F(ApiKeys, ARevokedOneStopsAtOnceAndIsStillAKey) {
  const NewKey made = keys_.create("ci", KeyScope::sandboxes).value();
  ASSERT_TRUE(ring_.find(made.secret).value().has_value());
  ASSERT_TRUE(keys_.revoke("ci").ok());
  EXPECT_FALSE(ring_.find(made.secret).value().has_value());
  EXPECT_TRUE(ring_.has_keys().value()) << "a server would be open to anybody again";
  EXPECT_EQ(keys_.revoke(made.key.id.str()).error().code(), Code::failed_precondition);
  EXPECT_NE(keys_.list().value().front().revoked_ms, 0);
}

TEST_F(ApiKeys, AreNamedByPrefixOrLabelWithoutDoubt) {
  const NewKey one = keys_.create("ci", KeyScope::sandboxes).value();
  const NewKey other = keys_.create("ci", KeyScope::sandboxes).value();
  EXPECT_EQ(keys_.revoke("ci").error().code(), Code::conflict);
  EXPECT_EQ(keys_.revoke("nobody").error().code(), Code::not_found);
  EXPECT_EQ(keys_.revoke("").error().code(), Code::not_found);
  EXPECT_EQ(keys_.revoke(one.key.id.str().substr(0, 3)).error().code(), Code::not_found);
  EXPECT_EQ(keys_.revoke(one.key.id.str().substr(0, 8)).value().id, one.key.id);
  EXPECT_EQ(keys_.revoke("ci").value().id, other.key.id);
}

TEST_F(ApiKeys, LabelsAreText) {
  for (const std::string& label : {std::string(), std::string(65, 'a'), std::string("a\nb"),
                                   std::string("\xff"), std::string("\x1b[1m")}) {
    EXPECT_EQ(keys_.create(label, KeyScope::sandboxes).error().code(), Code::invalid_argument)
        << label;
  }
  EXPECT_TRUE(keys_.create("Jo's laptop, ä", KeyScope::sandboxes).ok());
}

}  // namespace
}  // namespace paddock::service
