#include "egress/tls/client_hello.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "egress/testing/hello.h"

namespace paddock::egress::tls {
namespace {

using egress::testing::hello_with;
using egress::testing::in_records_of;
using egress::testing::openssl_hello;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using std::string_literals::operator""s;

const std::string kName = "\0\0\0\x0e\0\x0c\0\0\x09"s + "a.example";

TEST(ClientHello, NameAndProtocolsOfARealClientAreRead) {
  const std::string bytes = openssl_hello({.protocols = "\2h2\10http/1.1"});
  const ClientHello hello = parse_client_hello(bytes).value().value();
  EXPECT_EQ(hello.server_name, "a.example");
  EXPECT_THAT(hello.protocols, ElementsAre("h2", "http/1.1"));
  EXPECT_FALSE(hello.encrypted_hello);
}

TEST(ClientHello, WithoutANameThereIsNone) {
  const ClientHello hello = parse_client_hello(openssl_hello({.server_name = ""})).value().value();
  EXPECT_EQ(hello.server_name, std::nullopt);
  EXPECT_THAT(hello.protocols, IsEmpty());
}

TEST(ClientHello, EveryCutOfItAsksForMore) {
  const std::string bytes = openssl_hello({});
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ASSERT_FALSE(parse_client_hello(bytes.substr(0, cut)).value().has_value()) << cut;
  }
  EXPECT_TRUE(parse_client_hello(bytes + "early data").value().has_value());
}

TEST(ClientHello, RecordsOfAnySizeHoldTheSameHello) {
  const std::string bytes = openssl_hello({});
  for (size_t size : {1u, 2u, 3u, 7u, 64u, 4096u}) {
    const std::string cut = in_records_of(bytes, size);
    EXPECT_EQ(parse_client_hello(cut).value().value().server_name, "a.example") << size;
    EXPECT_FALSE(parse_client_hello(cut.substr(0, cut.size() - 1)).value().has_value());
  }
}

TEST(ClientHello, AnEncryptedOneIsSeen) {
  EXPECT_TRUE(parse_client_hello(hello_with(kName + "\xfe\x0d\0\1x"s)).value()->encrypted_hello);
  EXPECT_TRUE(parse_client_hello(hello_with("\xff\xce\0\1x"s)).value()->encrypted_hello);
  EXPECT_FALSE(parse_client_hello(hello_with(kName)).value()->encrypted_hello);
}

TEST(ClientHello, WhatSaysTwoThingsIsRefused) {
  EXPECT_FALSE(parse_client_hello(hello_with(kName + kName)).ok());
  const std::string two = "\0\0\0\x0a\0\x08\0\0\1a\0\0\1b"s;
  EXPECT_FALSE(parse_client_hello(hello_with(two)).ok());
  EXPECT_FALSE(parse_client_hello(hello_with("\0\0\0\2\0\0"s)).ok());         // an empty list
  EXPECT_FALSE(parse_client_hello(hello_with("\0\0\0\5\0\3\0\0\0"s)).ok());   // an empty name
  EXPECT_FALSE(parse_client_hello(hello_with("\0\0\0\6\0\3\0\0\0x"s)).ok());  // bytes behind it
  EXPECT_FALSE(parse_client_hello(hello_with("\0\0\0\6\0\4\1\0\1x"s)).ok());  // of another type
  EXPECT_FALSE(parse_client_hello(hello_with("\0\x10\0\2\0\1"s)).ok());
}

TEST(ClientHello, OtherProtocolsAreToldAtOnce) {
  for (const std::string& bytes :
       {"GET / HTTP/1.1\r\n"s, "SSH-2.0-x\r\n"s, "\x80\x2e\1\0\2"s, "\x16\2"s, "\x17\3\3\0\1x"s,
        "\x16\3\1\0\4\2\0\0\0"s, "\x16\3\1\xff\xff"s, "\x16\3\1\0\0"s,
        "\x16\3\1\0\2\1\0\x15\3\3\0\2\1\0"s}) {
    EXPECT_FALSE(parse_client_hello(bytes).ok());
  }
}

TEST(ClientHello, ItIsBounded) {
  EXPECT_FALSE(parse_client_hello("\x16\3\1\x40\0\1\xff\xff\xff"s).ok());
  std::string endless;
  while (endless.size() < 2 * kMaxHello) endless += "\x16\3\1\0\1\1"s;
  EXPECT_FALSE(parse_client_hello(endless).ok());
}

}  // namespace
}  // namespace paddock::egress::tls
