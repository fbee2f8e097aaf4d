#include "view/hide/hide_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/settings.h"

namespace paddock::view {
namespace {

bool hides(const HidePatterns& patterns, const std::string& path,
           EntryKind kind = EntryKind::other) {
  size_t slash = path.find_last_of('/');
  return patterns.hides(slash == std::string::npos ? path : path.substr(slash + 1), path, kind);
}

TEST(HidePatterns, APatternWithoutASlashIsANameInAnyDirectory) {
  HidePatterns patterns({".env", "*.pem", "id_*", "[ab]?.txt"}, {});
  for (const char* path : {".env", "a/b/.env", "x.pem", "a/.pem", "id_rsa", "a/id_", "bz.txt"}) {
    EXPECT_TRUE(hides(patterns, path)) << path;
  }
  for (const char* path :
       {"env", ".envrc", ".env/x", "pem", "x.pem.pub", "xid_rsa", "c1.txt", "a.txt"}) {
    EXPECT_FALSE(hides(patterns, path)) << path;
  }
}

TEST(HidePatterns, APatternWithASlashIsAPathFromTheRoot) {
  HidePatterns patterns({"config/secrets.yml", "/top", "a/**/z", "**/deep/x", "keys/**"}, {});
  for (const char* path : {"config/secrets.yml", "top", "a/z", "a/b/c/z", "deep/x", "q/deep/x",
                           "keys/k", "keys/a/b"}) {
    EXPECT_TRUE(hides(patterns, path)) << path;
  }
  for (const char* path : {"x/config/secrets.yml", "x/top", "b/a/z", "keys", "x"}) {
    EXPECT_FALSE(hides(patterns, path)) << path;
  }
}

TEST(HidePatterns, ASlashAtTheEndMeansDirectories) {
  HidePatterns patterns({"secrets/", "private/keys/"}, {});
  EXPECT_TRUE(hides(patterns, "a/secrets", EntryKind::directory));
  EXPECT_FALSE(hides(patterns, "a/secrets"));
  EXPECT_TRUE(hides(patterns, "private/keys", EntryKind::directory));
  EXPECT_FALSE(hides(patterns, "private/keys"));
}

TEST(HidePatterns, ShowMakesExceptions) {
  HidePatterns patterns({".env", ".env.*", "*.pem"}, {".env.example", "certs/*.pem"});
  EXPECT_TRUE(hides(patterns, "a/.env.local"));
  EXPECT_FALSE(hides(patterns, "a/.env.example"));
  EXPECT_FALSE(hides(patterns, "certs/ca.pem"));
  EXPECT_TRUE(hides(patterns, "x/certs/ca.pem"));
}

TEST(HidePatterns, CertainNamesAreThoseWithoutAnyException) {
  EXPECT_THAT(HidePatterns({".env", "*.pem", "id_rsa", "d/", "a/b"}, {"id_r*"}).certain_names(),
              ::testing::ElementsAre(".env"));
  EXPECT_THAT(HidePatterns({".env"}, {"test/.env"}).certain_names(), ::testing::IsEmpty());
}

TEST(HidePatterns, TheShippedOnesHideSecretsAndLeaveTheirExamples) {
  model::FileRules rules;
  HidePatterns patterns(rules.hide, rules.show);
  for (const char* path :
       {".env", "app/.env.production", "tls/server.key", ".npmrc", "deploy/id_ed25519"}) {
    EXPECT_TRUE(hides(patterns, path)) << path;
  }
  for (const char* path : {".env.example", ".envrc", "src/monkey", "keyboard.c", "id_rsa.pub"}) {
    EXPECT_FALSE(hides(patterns, path)) << path;
  }
}

TEST(HidePatterns, EmptyAndOddPatternsHideNothingByAccident) {
  HidePatterns patterns({"", "/", "//", "./"}, {});
  EXPECT_FALSE(hides(patterns, "a"));
  EXPECT_FALSE(hides(patterns, "a", EntryKind::directory));
  EXPECT_TRUE(hides(HidePatterns({"*"}, {}), "anything"));
  EXPECT_TRUE(hides(HidePatterns({"\xff*"}, {}), "\xff\n"));
}

}  // namespace
}  // namespace paddock::view
