#include "wire/proxy_request.h"

#include <gtest/gtest.h>

#include <vector>

namespace paddock::wire {
namespace {

using std::string_literals::operator""s;

const std::string kNoUser = "\x05\x01\x00"s;

// Fed byte by byte, as far as it goes.
struct Fed {
  std::optional<ProxyDestination> destination;
  std::optional<Error> error;
  std::string reply, rest;
};
Fed feed(const std::string& bytes, size_t step = 1) {
  ProxyGreeting greeting;
  Fed out;
  for (size_t at = 0; at < bytes.size() && !out.destination && !out.error; at += step) {
    auto got = greeting.receive(bytes.substr(at, step));
    out.reply += greeting.take_reply();
    if (!got.ok()) out.error = got.error();
    if (got.ok()) out.destination = *got;
  }
  out.rest = greeting.rest();
  return out;
}

TEST(ProxyGreeting, Socks5NamesAndAddressesAreRead) {
  for (size_t step : {1u, 3u, 100u}) {
    const Fed name = feed(kNoUser + "\x05\x01\x00\x03\x09"s + "a.example" + "\x01\xbb"s, step);
    ASSERT_TRUE(name.destination.has_value());
    EXPECT_EQ(name.destination->host, "a.example");
    EXPECT_EQ(name.destination->port, 443);
    EXPECT_EQ(name.reply, "\x05\x00"s);
  }
  EXPECT_EQ(feed(kNoUser + "\x05\x01\x00\x01\xc6\x12\x00\x10\x00\x50"s).destination->host,
            "198.18.0.16");
  EXPECT_EQ(feed(kNoUser + "\x05\x01\x00\x04"s + std::string(15, '\0') + "\x01\x00\x50"s)
                .destination->host,
            "::1");
}

TEST(ProxyGreeting, ConnectIsRead) {
  const Fed named =
      feed("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\nhello", 1000);
  EXPECT_EQ(named.destination->host, "a.example");
  EXPECT_EQ(named.destination->port, 443);
  EXPECT_EQ(named.destination->form, ProxyForm::http_connect);
  EXPECT_EQ(named.rest, "hello");
  EXPECT_EQ(feed("CONNECT [::1]:80 HTTP/1.0\r\n\r\n").destination->host, "::1");
}

TEST(ProxyGreeting, WhatIsNotCarriedIsRefusedInItsOwnProtocol) {
  EXPECT_EQ(feed("\x05\x01\x02"s).reply, "\x05\xff");
  EXPECT_EQ(feed(kNoUser + "\x05\x02\x00\x01\x01"s).reply.substr(2, 2), "\x05\x07"s);
  EXPECT_EQ(feed(kNoUser + "\x05\x03\x00\x01\x01"s).reply.substr(2, 2), "\x05\x07"s);
  EXPECT_EQ(feed(kNoUser + "\x05\x01\x00\x07\x01"s).reply.substr(2, 2), "\x05\x08"s);
  const Fed get = feed("GET http://a.example/ HTTP/1.1\r\n\r\n");
  EXPECT_EQ(get.error->code(), Code::unsupported);
  EXPECT_TRUE(get.reply.starts_with("HTTP/1.1 403"));
}

TEST(ProxyGreeting, MalformedRequestsAreErrors) {
  for (const std::string& bytes :
       {"CONNECT a.example HTTP/1.1\r\n\r\n"s, "CONNECT a.example:0 HTTP/1.1\r\n\r\n"s,
        "CONNECT a.example:65536 HTTP/1.1\r\n\r\n"s, "CONNECT :80 HTTP/1.1\r\n\r\n"s,
        "CONNECT a.example:+80 HTTP/1.1\r\n\r\n"s, "CONNECT a.example:80\r\n\r\n"s,
        std::string(20000, 'x'), kNoUser + "\x04\x01\x00\x01\x01"s,
        kNoUser + "\x05\x01\x01\x01\x01"s}) {
    EXPECT_TRUE(feed(bytes, 64).error.has_value());
  }
}

TEST(ProxyGreeting, TheAnswerIsInTheClientsProtocol) {
  EXPECT_EQ(ProxyGreeting::accepted(ProxyForm::socks5), "\x05\x00\x00\x01"s + std::string(6, '\0'));
  EXPECT_EQ(ProxyGreeting::refused(ProxyForm::socks5, "x")[1], 2);
  EXPECT_NE(ProxyGreeting::refused(ProxyForm::http_connect, "egress: no").find("egress: no"),
            std::string::npos);
}

}  // namespace
}  // namespace paddock::wire
