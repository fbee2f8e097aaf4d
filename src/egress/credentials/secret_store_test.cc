#include "egress/credentials/secret_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "egress/credentials/load.h"
#include "egress/testing/samples.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::egress {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Fixture {
  sys::testing::TempDir dir;
  std::string folder = dir.path() + "/secrets";
  SecretStore store{folder};
};

TEST(SecretStore, ASecretIsReadBackAndListedByName) {
  Fixture f;
  EXPECT_THAT(f.store.names().value(), IsEmpty());
  ASSERT_TRUE(f.store.put("github", Secret(kToken)).ok());
  ASSERT_TRUE(f.store.put("aws.key", Secret("x")).ok());
  EXPECT_EQ(f.store.get("github").value().reveal(), kToken);
  EXPECT_THAT(f.store.names().value(), ElementsAre("aws.key", "github"));
  ASSERT_TRUE(f.store.put("github", Secret("other")).ok());
  EXPECT_EQ(f.store.get("github").value().reveal(), "other");
  ASSERT_TRUE(f.store.remove("github").ok());
  EXPECT_EQ(f.store.get("github").error().code(), Code::not_found);
  EXPECT_EQ(f.store.remove("github").error().code(), Code::not_found);
}

TEST(SecretStore, NothingOfItIsInTheFiles) {
  Fixture f;
  ASSERT_TRUE(f.store.put("github", Secret(kToken)).ok());
  EXPECT_EQ(sys::stat_path(f.folder).value().st_mode & 0777, 0700u);
  const sys::DirFd dir = sys::open_dir(f.folder).value();
  const std::vector<sys::DirEntry> entries = sys::list_dir(dir).value();
  ASSERT_EQ(entries.size(), 3u);  // the key, the lock, the secret
  for (const sys::DirEntry& entry : entries) {
    const std::string path = f.folder + "/" + entry.name;
    EXPECT_EQ(sys::stat_path(path).value().st_mode & 0777, 0600u) << entry.name;
    EXPECT_THAT(sys::read_file(path).value(), Not(HasSubstr("ghp_"))) << entry.name;
  }
}

TEST(SecretStore, AFileUnderAnotherNameOrKeyIsRefused) {
  Fixture f;
  ASSERT_TRUE(f.store.put("a", Secret(kToken)).ok());
  const std::string sealed = sys::read_file(f.folder + "/a.secret").value();
  ASSERT_TRUE(sys::replace_file(f.folder + "/b.secret", sealed, 0600).ok());
  EXPECT_EQ(f.store.get("b").error().code(), Code::data_corrupt);
  std::string changed = sealed;
  changed[changed.size() - 20] ^= 1;
  ASSERT_TRUE(sys::replace_file(f.folder + "/a.secret", changed, 0600).ok());
  EXPECT_EQ(f.store.get("a").error().code(), Code::data_corrupt);
  ASSERT_TRUE(sys::replace_file(f.folder + "/a.secret", sealed, 0600).ok());
  ASSERT_TRUE(sys::replace_file(f.folder + "/key", std::string(32, 'k'), 0600).ok());
  EXPECT_EQ(f.store.get("a").error().code(), Code::data_corrupt);
}

TEST(SecretStore, AKeyThatOthersCanReadIsRefused) {
  Fixture f;
  ASSERT_TRUE(f.store.put("a", Secret(kToken)).ok());
  chmod((f.folder + "/key").c_str(), 0644);
  EXPECT_EQ(f.store.get("a").error().code(), Code::failed_precondition);
  EXPECT_EQ(f.store.put("b", Secret("x")).error().code(), Code::failed_precondition);
}

TEST(SecretStore, NamesNeverLeaveTheDirectory) {
  Fixture f;
  for (const char* name : {"", "..", "../x", "a/b", ".hidden", "a b", "a\n"}) {
    EXPECT_EQ(f.store.put(name, Secret("x")).error().code(), Code::invalid_argument) << name;
    EXPECT_EQ(f.store.get(name).error().code(), Code::invalid_argument) << name;
    EXPECT_EQ(f.store.remove(name).error().code(), Code::invalid_argument) << name;
  }
}

model::Credential from(model::SecretSource source, std::string name) {
  model::Credential credential;
  credential.name = "c";
  credential.secret = {source, std::move(name)};
  return credential;
}

TEST(LoadCredentials, EverySourceGivesItsSecret) {
  Fixture f;
  ASSERT_TRUE(f.store.put("stored", Secret("from the store")).ok());
  ASSERT_TRUE(sys::replace_file(f.dir.path() + "/file", "from a file\r\n", 0600).ok());
  const SecretSources sources{
      .variable = [](const std::string& name) -> std::optional<std::string> {
        return name == "TOKEN" ? std::optional<std::string>("from a variable") : std::nullopt;
      },
      .command_environment = {"PATH=/usr/bin:/bin", "WORD=command"},
      .store_directory = f.folder};
  auto load = [&](const model::Credential& credential) {
    return std::string(load_credentials({credential}, sources).value().at(0).secret.reveal());
  };
  using enum model::SecretSource;
  EXPECT_EQ(load(from(environment, "TOKEN")), "from a variable");
  EXPECT_EQ(load(from(file, f.dir.path() + "/file")), "from a file");
  EXPECT_EQ(load(from(command, "printenv  WORD")), "command");
  EXPECT_EQ(load(from(store, "stored")), "from the store");
}

TEST(LoadCredentials, WhatCannotBeHadIsAnErrorThatNamesTheCredential) {
  Fixture f;
  const SecretSources sources{.variable = [](const std::string&) { return std::nullopt; },
                              .command_environment = {"PATH=/usr/bin:/bin"},
                              .store_directory = f.folder};
  using enum model::SecretSource;
  for (const auto& credential :
       {from(environment, "TOKEN"), from(file, f.dir.path() + "/none"), from(command, "false"),
        from(command, "no-such-program-here"), from(command, " "), from(store, "none")}) {
    auto loaded = load_credentials({credential}, sources);
    ASSERT_FALSE(loaded.ok());
    EXPECT_THAT(loaded.error().describe(), HasSubstr("reading credential c"));
  }
}

}  // namespace
}  // namespace paddock::egress
