#include "api/e2b/port_heads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paddock::api::e2b {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PassRequest, KeepsWhatIsOfTheMessageAlone) {
  const net::http::RequestHead request{"POST",
                                       "/a?b=%20",
                                       1,
                                       {{"Host", "3000-abc.localhost"},
                                        {"Connection", "keep-alive, X-Hop"},
                                        {"X-Hop", "1"},
                                        {"Keep-Alive", "5"},
                                        {"TE", "trailers"},
                                        {"E2b-Sandbox-Id", "abc"},
                                        {"E2b-Traffic-Access-Token", "t"},
                                        {"X-Forwarded-For", "6.6.6.6"},
                                        {"Content-Length", "3"},
                                        {"Cookie", "c=1"}}};
  const PassedHead passed = pass_request(request, {"inside:3000", {}});
  EXPECT_TRUE(passed.text.starts_with("POST /a?b=%20 HTTP/1.1\r\nHost: inside:3000\r\n"));
  EXPECT_THAT(passed.text, HasSubstr("Cookie: c=1\r\n"));
  EXPECT_THAT(passed.text, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_THAT(passed.text, HasSubstr("X-Forwarded-Host: 3000-abc.localhost\r\n"));
  for (const char* gone : {"X-Hop", "Keep-Alive", "TE:", "E2b-", "6.6.6.6", "keep-alive"}) {
    EXPECT_THAT(passed.text, Not(HasSubstr(gone)));
  }
  EXPECT_EQ(passed.body, PassedHead::Body::sized);
  EXPECT_FALSE(passed.upgrades);
}

TEST(PassRequest, ALengthBesideChunksIsNotPassedOn) {
  const net::http::RequestHead request{
      "POST", "/", 1, {{"Transfer-Encoding", "chunked"}, {"Content-Length", "3"}}};
  const PassedHead passed = pass_request(request, {"h", {}, "https"});
  EXPECT_EQ(passed.body, PassedHead::Body::chunked);
  EXPECT_THAT(passed.text, Not(HasSubstr("Content-Length")));
}

TEST(PassRequest, ALengthIsPassedOnWhateverConnectionSays) {
  const net::http::RequestHead request{
      "POST", "/", 1, {{"Connection", "Content-Length"}, {"Content-Length", "3"}}};
  EXPECT_THAT(pass_request(request, {"h", {}}).text, HasSubstr("Content-Length: 3"));
}

TEST(PassRequest, TheTokenOfTheSandboxStaysOutside) {
  const net::http::RequestHead ours{"GET", "/", 1, {{"X-Access-Token", "tok"}}};
  EXPECT_THAT(pass_request(ours, {"h", {"tok"}}).text, Not(HasSubstr("tok")));
  const net::http::RequestHead own{"GET", "/", 1, {{"X-Access-Token", "of the program"}}};
  EXPECT_THAT(pass_request(own, {"h", {"tok"}}).text, HasSubstr("of the program"));
}

TEST(PassRequest, AnUpgradeIsAskedForAgain) {
  const net::http::RequestHead request{
      "GET", "/", 1, {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}}};
  const PassedHead passed = pass_request(request, {"h", {}});
  EXPECT_TRUE(passed.upgrades);
  EXPECT_THAT(passed.text, HasSubstr("Connection: Upgrade\r\nUpgrade: websocket\r\n"));
}

TEST(PassResponse, LosesItsFraming) {
  const auto head = egress::http::parse_response_head(
                        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close, X-Hop\r\n"
                        "X-Hop: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n",
                        "GET")
                        .value();
  const net::http::Response passed = pass_response(*head);
  EXPECT_EQ(passed.headers.count("set-cookie"), 2u);
  EXPECT_EQ(passed.headers.fields().size(), 2u);
}

TEST(HostInside, FollowsTheMask) {
  EXPECT_EQ(host_inside("", "3000-a.localhost", 3000), "3000-a.localhost");
  EXPECT_EQ(host_inside("localhost:${PORT}", "x", 3000), "localhost:3000");
}

}  // namespace
}  // namespace paddock::api::e2b
