#include "egress/http/request_head.h"

#include <gtest/gtest.h>

namespace paddock::egress::http {
namespace {

using std::string_literals::operator""s;

std::string get(const std::string& lines, const std::string& target = "/a?b") {
  return "GET " + target + " HTTP/1.1\r\n" + lines + "\r\n";
}
RequestHead read_request(const std::string& bytes) {
  return parse_request_head(bytes, Scheme::http).value().value();
}
bool refused(const std::string& bytes) {
  return !parse_request_head(bytes, Scheme::http).ok();
}

TEST(RequestHead, AnOrdinaryRequestIsRead) {
  const std::string bytes = get("Host: A.example:80\r\nX-Y:  v w \t\r\nEmpty:\r\n");
  const RequestHead head = read_request(bytes + "GET /next");
  EXPECT_EQ(head.request.method, "GET");
  EXPECT_EQ(head.request.target, "/a?b");
  EXPECT_EQ(head.request.path(), "/a");
  EXPECT_EQ(head.request.query(), "b");
  EXPECT_EQ(head.request.authority, "A.example:80");
  ASSERT_EQ(head.request.fields.size(), 2u);
  EXPECT_EQ(head.request.fields[0].name, "x-y");
  EXPECT_EQ(head.request.fields[0].value, "v w");
  EXPECT_EQ(head.size, bytes.size());
  EXPECT_TRUE(head.keeps_alive);
  EXPECT_EQ(head.body.kind, BodyKind::none);
}

TEST(RequestHead, EveryCutOfItAsksForMore) {
  const std::string bytes = get("Host: a.example\r\n");
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_FALSE(parse_request_head(bytes.substr(0, cut), Scheme::http).value().has_value()) << cut;
  }
}

TEST(RequestHead, WhatIsSentOnSaysTheSame) {
  const std::string bytes =
      "POST /x HTTP/1.1\r\nHost: a.example\r\nX-Odd: 1\r\nContent-Length: 3\r\n\r\n";
  EXPECT_EQ(serialize(read_request(bytes)), bytes);
}

TEST(RequestHead, OneHostIsNeeded) {
  EXPECT_TRUE(refused(get("")));
  EXPECT_TRUE(refused(get("Host: a.example\r\nHost: a.example\r\n")));
  EXPECT_TRUE(refused(get("Host: a.example\r\nhOST: b.example\r\n")));
  EXPECT_TRUE(refused("GET / HTTP/1.0\r\n\r\n"));
}

TEST(RequestHead, AnAbsoluteTargetMustAgreeWithTheHost) {
  EXPECT_EQ(read_request(get("Host: a.example\r\n", "http://A.example:80/x?y")).request.target,
            "/x?y");
  EXPECT_EQ(read_request(get("Host: a.example\r\n", "HTTP://a.example")).request.target, "/");
  EXPECT_EQ(read_request(get("Host: a.example\r\n", "http://a.example?q")).request.target, "/?q");
  for (const char* target :
       {"http://b.example/", "http://a.example:81/", "https://a.example/", "ftp://a.example/",
        "http://u@a.example/", "http:///x", "a.example:80", "http://a.example.evil.example/"}) {
    EXPECT_TRUE(refused(get("Host: a.example\r\n", target))) << target;
  }
}

TEST(RequestHead, ConnectIsNotForTheGate) {
  auto error =
      parse_request_head("CONNECT b.example:443 HTTP/1.1\r\nHost: b.example\r\n\r\n", Scheme::http);
  EXPECT_EQ(error.error().code(), Code::unsupported);
}

TEST(RequestHead, LinesThatTwoProgramsReadInTwoWaysAreRefused) {
  const std::string host = "Host: a.example\r\n";
  for (const std::string& bytes : {"GET / HTTP/1.1\nHost: a.example\n\n"s,
                                   "GET / HTTP/1.1\r\nHost: a.example\n\r\n"s,
                                   get(host + "X: a\r\n b\r\n"),
                                   get(host + "X : a\r\n"),
                                   get(" " + host),
                                   get(host + "X\r\n"),
                                   get(host + ": a\r\n"),
                                   get(host + "X: a\rY: b\r\n"),
                                   get(host + "X: a\0b\r\n"s),
                                   get(host + "X(y): a\r\n"),
                                   "GET  / HTTP/1.1\r\n"s + host + "\r\n",
                                   "GET /a b HTTP/1.1\r\n" + host + "\r\n",
                                   "GET\t/ HTTP/1.1\r\n" + host + "\r\n",
                                   "GET / HTTP/1.1 \r\n" + host + "\r\n",
                                   "GET / HTTP/1.2\r\n" + host + "\r\n",
                                   "GET / http/1.1\r\n" + host + "\r\n",
                                   "GET /\r\n" + host + "\r\n",
                                   "GET / HTTP/2.0\r\n" + host + "\r\n",
                                   "G{T / HTTP/1.1\r\n" + host + "\r\n",
                                   get(host, "/\x80"),
                                   get(host, "/#f"),
                                   get(host, "x"),
                                   get(host, "*"),
                                   "\r\n" + get(host)}) {
    EXPECT_TRUE(refused(bytes)) << bytes;
  }
}

TEST(RequestHead, TheLengthOfTheBodyIsSaidOnce) {
  auto body = [](const std::string& lines) {
    return read_request(get("Host: a\r\n" + lines)).body;
  };
  EXPECT_EQ(body("Content-Length: 12\r\n").size, 12u);
  EXPECT_EQ(body("Transfer-Encoding: Chunked\r\n").kind, BodyKind::chunked);
  for (const std::string& lines :
       {"Content-Length: 1\r\nContent-Length: 1\r\n"s, "Content-Length: 1, 1\r\n"s,
        "Content-Length: +1\r\n"s, "Content-Length: -1\r\n"s, "Content-Length: 1x\r\n"s,
        "Content-Length: 0x1\r\n"s, "Content-Length:\r\n"s,
        "Content-Length: 9223372036854775808\r\n"s, "Content-Length: 99999999999999999999\r\n"s,
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"s,
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"s,
        "Transfer-Encoding: gzip, chunked\r\n"s, "Transfer-Encoding: chunked, identity\r\n"s,
        "Transfer-Encoding: xchunked\r\n"s, "Transfer-Encoding: \vchunked\r\n"s,
        "Transfer-Encoding:\r\n"s, "Transfer-Encoding: \"chunked\"\r\n"s}) {
    EXPECT_TRUE(refused(get("Host: a\r\n" + lines))) << lines;
  }
  EXPECT_TRUE(refused("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"));
}

TEST(RequestHead, KeepingTheConnectionFollowsTheVersion) {
  EXPECT_FALSE(read_request(get("Host: a\r\nConnection: foo, Close\r\n")).keeps_alive);
  EXPECT_FALSE(read_request("GET / HTTP/1.0\r\nHost: a\r\n\r\n").keeps_alive);
  EXPECT_TRUE(
      read_request("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n").keeps_alive);
}

TEST(RequestHead, OnlyWebSocketsMayUpgrade) {
  EXPECT_TRUE(
      read_request(get("Host: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"))
          .upgrades);
  for (const std::string& lines :
       {"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"s,
        "Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n"s, "Upgrade: websocket\r\n"s,
        "Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n"s,
        "Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 4\r\n"s}) {
    EXPECT_TRUE(refused(get("Host: a\r\n" + lines))) << lines;
  }
}

TEST(RequestHead, OnlyOneExpectationIsKnown) {
  EXPECT_TRUE(read_request(get("Host: a\r\nExpect: 100-Continue\r\n")).expects_continue);
  EXPECT_TRUE(refused(get("Host: a\r\nExpect: 200-ok\r\n")));
}

TEST(RequestHead, ItIsBounded) {
  EXPECT_TRUE(refused(get("Host: a\r\nX: " + std::string(kMaxHead, 'x') + "\r\n")));
  std::string many = "Host: a\r\n";
  for (size_t i = 0; i < kMaxFields; ++i) many += "X: 1\r\n";
  EXPECT_TRUE(refused(get(many)));
}

}  // namespace
}  // namespace paddock::egress::http
