#include "egress/rules/http_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paddock::egress {
namespace {

using model::HttpConditions;

HttpMatch match(const HttpConditions& conditions) {
  return HttpMatch::compile(conditions).value();
}
http::Request request(const std::string& method, const std::string& target) {
  return {.method = method, .target = target, .authority = "a.example", .fields = {}};
}

TEST(HttpMatch, AGrantHoldsForEveryReadingOfThePath) {
  const HttpMatch public_only = match({.paths = {{"/public/**"}}});
  EXPECT_TRUE(public_only.grants(request("GET", "/public/a/b?c")));
  for (const char* target :
       {"/admin", "/public/../admin", "/public/%2e%2e/admin", "/public/..;/admin",
        "/public%2f..%2fadmin", "/public\\..\\admin", "/public/%252e%252e/admin", "/public%2fa",
        "//public/a", "/%70ublic/..%2f", "*", "/public/%2525252525"}) {
    EXPECT_FALSE(public_only.grants(request("GET", target))) << target;
  }
}

TEST(HttpMatch, ARefusalIsMetByAnyReadingOfThePath) {
  const HttpMatch admin = match({.paths = {{"/admin", "/admin/**"}}});
  for (const char* target :
       {"/admin", "/admin/", "/ADMIN", "/admin/x", "//admin", "/a/../admin", "/%61dmin",
        "/%2561dmin", "/admin;x=1", "/./admin", "/x/%2e%2e/admin/y", "/x%2f..%2fadmin", "/admin?q",
        "/%25252525252525"}) {
    EXPECT_TRUE(admin.refuses(request("GET", target))) << target;
  }
  EXPECT_FALSE(admin.refuses(request("GET", "/administrator")));
}

TEST(HttpMatch, AnEmptyListIsMetByNothing) {
  EXPECT_FALSE(match({.methods = {model::TextList{}}}).grants(request("GET", "/")));
  EXPECT_FALSE(match({.paths = {model::TextList{}}}).grants(request("GET", "/")));
  EXPECT_FALSE(match({.query = {{"a", {}}}}).grants(request("GET", "/?a=1")));
}

TEST(HttpMatch, MethodsAreExactForAGrant) {
  const HttpMatch get = match({.methods = {{"GET"}}});
  EXPECT_TRUE(get.grants(request("GET", "/")));
  EXPECT_FALSE(get.grants(request("get", "/")));
  EXPECT_TRUE(get.refuses(request("get", "/")));
}

TEST(HttpMatch, AParameterGivenTwiceMustBeAcceptedTwice) {
  const HttpMatch version = match({.query = {{"api-version", {"2024-*"}}}});
  EXPECT_TRUE(version.grants(request("GET", "/?x=1&api-version=2024-01")));
  EXPECT_TRUE(version.grants(request("GET", "/?api%2Dversion=2024%2D01")));
  EXPECT_FALSE(version.grants(request("GET", "/")));
  EXPECT_FALSE(version.grants(request("GET", "/?api-version=2024-01&api-version=2023-01")));
  EXPECT_TRUE(version.refuses(request("GET", "/?api-version=2023-01&api-version=2024-01")));
}

TEST(HttpMatch, HeadersAreMatchedWhateverTheirCase) {
  const HttpMatch json = match({.headers = {{"Accept", {"application/*"}}}});
  http::Request asked = request("GET", "/");
  EXPECT_FALSE(json.grants(asked));
  asked.fields = {{"accept", "application/json"}};
  EXPECT_TRUE(json.grants(asked));
  asked.fields.push_back({"accept", "text/html"});
  EXPECT_FALSE(json.grants(asked));
  EXPECT_TRUE(json.refuses(asked));
}

TEST(HttpMatch, ConditionsThatCannotHoldAreRefused) {
  EXPECT_FALSE(HttpMatch::compile({.methods = {{"G T"}}}).ok());
  EXPECT_FALSE(HttpMatch::compile({.methods = {{""}}}).ok());
  EXPECT_FALSE(HttpMatch::compile({.paths = {{"admin"}}}).ok());
  EXPECT_FALSE(HttpMatch::compile({.paths = {{"/a?b=1"}}}).ok());
  EXPECT_FALSE(HttpMatch::compile({.headers = {{"Host", {"x"}}}}).ok());
  EXPECT_FALSE(HttpMatch::compile({.headers = {{"a b", {"x"}}}}).ok());
}

}  // namespace
}  // namespace paddock::egress
