#include "egress/tls/java_store.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/base64.h"

namespace paddock::egress::tls {
namespace {

std::string block(const std::string& der) {
  return "-----BEGIN CERTIFICATE-----\n" + base64_encode(der) + "\n-----END CERTIFICATE-----\n";
}

TEST(JavaStore, HoldsEveryCertificateInOrder) {
  const auto store = java_trust_store("# a comment\n" + block("first") + "\n" + block("second"));
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(store->substr(0, 12), std::string("\xfe\xed\xfe\xed\0\0\0\2\0\0\0\2", 12));
  EXPECT_LT(store->find("first"), store->find("second"));
  EXPECT_NE(store->find(std::string("\0\0\0\6second", 10)), std::string::npos);
}

TEST(JavaStore, EndsWithTheDigestOfTheUsualPassword) {
  const std::string store = java_trust_store(block("x")).value();
  std::string hex;
  for (const char c : store.substr(store.size() - 20))
    hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  // SHA-1 by another implementation, over the layout that OpenJDK describes.
  EXPECT_EQ(hex, "4c7ccfc9f3a50f26b8012e34a653b5e8b6fdaea3");
}

TEST(JavaStore, WhatIsNoCertificateIsRefused) {
  EXPECT_EQ(java_trust_store("").error().code(), Code::data_corrupt);
  EXPECT_EQ(
      java_trust_store("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----").error().code(),
      Code::data_corrupt);
}

}  // namespace
}  // namespace paddock::egress::tls
