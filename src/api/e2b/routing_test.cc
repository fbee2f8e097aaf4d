#include "api/e2b/routing.h"

#include <gtest/gtest.h>

namespace paddock::api::e2b {
namespace {

Result<Route> route(const net::http::RequestHead& request) {
  return e2b::route(request, RouteOptions{});
}

using net::http::Headers;
using net::http::RequestHead;

RequestHead request(std::string target, Headers headers) {
  return {"GET", std::move(target), 1, std::move(headers)};
}

TEST(Routing, FollowsTheHeaders) {
  const Route to = route(request("/files", {{"Host", "127.0.0.1:3100"},
                                            {"E2b-Sandbox-Id", "abc234"},
                                            {"e2b-sandbox-port", "3000"}}))
                       .value();
  EXPECT_EQ(to.to, Route::To::sandbox);
  EXPECT_EQ(to.id, "abc234");
  EXPECT_EQ(to.port, 3000);
}

TEST(Routing, FollowsTheHostName) {
  const Route to = route(request("/", {{"Host", "8080-abc234.sbx.localhost:3100"}})).value();
  EXPECT_EQ(to.to, Route::To::sandbox);
  EXPECT_EQ(to.id, "abc234");
  EXPECT_EQ(to.port, 8080);
}

TEST(Routing, TellsTheControlPlaneFromASignedFile) {
  EXPECT_EQ(route(request("/v2/sandboxes", {{"Host", "localhost"}})).value().to,
            Route::To::control);
  EXPECT_EQ(route(request("/files?path=a", {{"Host", "[::1]:3100"}})).value().to,
            Route::To::signed_file);
}

TEST(Routing, RefusesTheHostOfSomebodyElsesName) {
  for (const char* host : {"evil.example", "evil.example:3100", "127.0.0.1.evil.example",
                           "localhost.evil.example", "evillocalhost", "10.0.0.1", ""}) {
    auto to = route(request("/sandboxes", {{"Host", host}}));
    ASSERT_FALSE(to.ok()) << host;
    EXPECT_EQ(to.error().code(), Code::permission_denied);
  }
}

TEST(Routing, TakesAnyNameWhereKeysAreAskedFor) {
  const RequestHead head = request("/sandboxes", {{"Host", "ci.example"}});
  EXPECT_FALSE(e2b::route(head, RouteOptions{}).ok());
  EXPECT_TRUE(e2b::route(head, {Hosts::any, "localhost"}).ok());
}

TEST(Routing, FollowsTheServersOwnDomain) {
  const RouteOptions options{Hosts::loopback, "sbx.example"};
  const Route to = e2b::route(request("/", {{"Host", "80-abc234.sbx.example"}}), options).value();
  EXPECT_EQ(to.to, Route::To::sandbox);
  EXPECT_EQ(to.port, 80);
  EXPECT_TRUE(e2b::route(request("/", {{"Host", "sbx.example"}}), options).ok());
  EXPECT_FALSE(e2b::route(request("/", {{"Host", "evilsbx.example"}}), options).ok());
}

TEST(Routing, RefusesPagesOfOtherOrigins) {
  for (const char* origin : {"https://evil.example", "null", "http://localhost.evil.example"}) {
    EXPECT_FALSE(route(request("/sandboxes", {{"Host", "localhost"}, {"Origin", origin}})).ok());
  }
  EXPECT_TRUE(
      route(request("/sandboxes", {{"Host", "localhost"}, {"Origin", "http://localhost:8080"}}))
          .ok());
}

TEST(Routing, PagesOfSandboxesReachTheirOwnKindOnly) {
  const std::string page = "http://3000-abc234.localhost:3100";
  EXPECT_FALSE(route(request("/sandboxes", {{"Host", "localhost"}, {"Origin", page}})).ok());
  EXPECT_TRUE(route(request("/", {{"Host", "3000-abc234.localhost:3100"}, {"Origin", page}})).ok());
}

TEST(Routing, NamesTheDomainAsTheClientNamesTheServer) {
  auto domain = [](const char* host) {
    return domain_of(request("/", {{"Host", host}}), "localhost");
  };
  EXPECT_EQ(domain("127.0.0.1:3100"), "localhost:3100");
  EXPECT_EQ(domain("[::1]:3100"), "localhost:3100");
  EXPECT_EQ(domain("localhost"), "localhost");
  EXPECT_EQ(domain("api.sbx.localhost:8443"), "sbx.localhost:8443");
  EXPECT_EQ(domain("paddock.localhost:3100"), "paddock.localhost:3100");
}

TEST(Routing, RefusesIdsAndPortsThatCannotBe) {
  auto with = [](const char* id, const char* port) {
    return route(
        request("/", {{"Host", "localhost"}, {"e2b-sandbox-id", id}, {"e2b-sandbox-port", port}}));
  };
  EXPECT_TRUE(with("abc", "1").ok());
  for (const char* id : {"../etc", "ABC", "a b", "a%2f"}) EXPECT_FALSE(with(id, "1").ok()) << id;
  for (const char* port : {"0", "65536", "-1", "x"}) EXPECT_FALSE(with("abc", port).ok()) << port;
}

}  // namespace
}  // namespace paddock::api::e2b
