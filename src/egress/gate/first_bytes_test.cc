#include "egress/gate/first_bytes.h"

#include <gtest/gtest.h>

#include "egress/testing/hello.h"

namespace paddock::egress {
namespace {

using std::string_literals::operator""s;

Wire wire(const std::string& stream) {
  return classify_first_bytes(stream).value().wire;
}

TEST(FirstBytes, EachProtocolIsKnown) {
  EXPECT_EQ(wire("GET / HTTP/1.1\r\n"), Wire::http);
  EXPECT_EQ(wire("PROPFIND /x HTTP/1.0\r\n"), Wire::http);
  EXPECT_EQ(wire("\r\n\r\nGET / HTTP/1.1\r\n"), Wire::http);
  EXPECT_EQ(wire("get / HTTP/1.1\r\n"), Wire::http);
  EXPECT_EQ(wire("SSH-2.0-OpenSSH_9.2\r\n"), Wire::ssh);
  EXPECT_EQ(wire("\0\0\0\x08\x04\xd2\x16\x2f"s), Wire::other);  // PostgreSQL asking for TLS
  EXPECT_EQ(wire("SET a b\r\n"), Wire::other);
  EXPECT_EQ(wire("EHLO a.example\r\n"), Wire::other);
  EXPECT_EQ(wire("\x80\x2e\1\0\2"s), Wire::other);
  const std::string hello = testing::openssl_hello({});
  EXPECT_EQ(wire(hello), Wire::tls);
  EXPECT_EQ(classify_first_bytes(hello)->hello->server_name, "a.example");
}

TEST(FirstBytes, Http2IsToldFromTheFirstVersion) {
  EXPECT_TRUE(classify_first_bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")->http2);
  EXPECT_FALSE(classify_first_bytes("PRI * HTTP/2.0").has_value());
  EXPECT_FALSE(classify_first_bytes("PRI /x HTTP/1.1\r\n")->http2);
}

TEST(FirstBytes, ABeginningAsksForMore) {
  for (const std::string& stream :
       {""s, "G"s, "GET"s, "GET /aaaa"s, "SS"s, "\x16"s, "\x16\3\1"s, "\r\n"s}) {
    EXPECT_FALSE(classify_first_bytes(stream).has_value()) << stream;
  }
}

TEST(FirstBytes, ItEndsByItself) {
  EXPECT_TRUE(classify_first_bytes(std::string(kMaxFirstBytes, 'a')).has_value());
  EXPECT_TRUE(classify_first_bytes(std::string(kMaxFirstBytes, '\n')).has_value());
  EXPECT_EQ(wire("GET /" + std::string(kMaxFirstBytes, 'a')), Wire::http);
  EXPECT_EQ(wire("aa bb" + std::string(kMaxFirstBytes, 'a')), Wire::other);
}

}  // namespace
}  // namespace paddock::egress
