#include "api/e2b/access.h"

#include <gtest/gtest.h>

namespace paddock::api::e2b {
namespace {

TEST(Signature, IsTheOneThatClientsMake) {
  // From the public test suite of the SDK.
  EXPECT_EQ(
      signature_of({"hello.txt", "read", "user", std::nullopt}, "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0"),
      "v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
}

TEST(Signature, DependsOnEverythingThatIsSigned) {
  const SignedUrl url{"a", "read", "user", 100};
  const std::string signature = signature_of(url, "t");
  EXPECT_NE(signature, signature_of({"b", "read", "user", 100}, "t"));
  EXPECT_NE(signature, signature_of({"a", "write", "user", 100}, "t"));
  EXPECT_NE(signature, signature_of({"a", "read", "", 100}, "t"));
  EXPECT_NE(signature, signature_of({"a", "read", "user", 101}, "t"));
  EXPECT_NE(signature, signature_of({"a", "read", "user", std::nullopt}, "t"));
  EXPECT_NE(signature, signature_of(url, "u"));
}

TEST(AccessTokens, DifferBySandboxAndServer) {
  const AccessTokens tokens("key");
  EXPECT_EQ(tokens.of("a"), tokens.of("a"));
  EXPECT_EQ(tokens.of("a").size(), 32u);
  EXPECT_NE(tokens.of("a"), tokens.of("b"));
  EXPECT_NE(tokens.of("a"), AccessTokens("other").of("a"));
}

TEST(EqualInConstantTime, ComparesAll) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
}

}  // namespace
}  // namespace paddock::api::e2b
