#include "agent/dns_stub.h"

#include <gtest/gtest.h>

namespace paddock::agent {
namespace {

using namespace std::string_literals;

std::string query(std::string_view name, char type, std::string_view tail = {}) {
  std::string out = "\xab\xcd\x01\x20\0\1\0\0\0\0\0\0"s;
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    out.push_back(static_cast<char>(label.size()));
    out.append(label);
    name.remove_prefix(std::min(name.size(), label.size() + 1));
  }
  out += "\0\0"s + type + "\0\1"s;
  return out.append(tail);
}

std::optional<DnsAnswer> refuse(std::string_view message) {
  return answer_query(message, OtherNames::refused);
}

int rcode(const DnsAnswer& answer) {
  return answer.message[3] & 0xf;
}

TEST(DnsStub, EveryNameButLocalhostDoesNotExist) {
  const auto answer = refuse(query("Example.COM", 1));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(rcode(*answer), 3);
  EXPECT_EQ(answer->refused_name, "example.com");
  EXPECT_EQ(answer->message.substr(0, 2), "\xab\xcd") << "the query's id";
  EXPECT_EQ(answer->message.substr(2, 2), "\x81\x83"s);
  EXPECT_EQ(answer->message.substr(4, 8), "\0\1\0\0\0\0\0\0"s);
  EXPECT_EQ(answer->message.substr(12), query("Example.COM", 1).substr(12))
      << "the question as it was";
}

TEST(DnsStub, LocalhostIsLoopback) {
  const auto v4 = refuse(query("localhost", 1));
  EXPECT_EQ(rcode(*v4), 0);
  EXPECT_TRUE(v4->message.ends_with("\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1"s));
  EXPECT_TRUE(v4->refused_name.empty());
  const auto v6 = refuse(query("a.localhost", 28));
  EXPECT_TRUE(v6->message.ends_with("\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"s));
}

TEST(DnsStub, LocalhostHasNoOtherRecords) {
  const auto answer = refuse(query("localhost", 15));
  EXPECT_EQ(rcode(*answer), 0);
  EXPECT_EQ(answer->message.substr(6, 2), "\0\0"s);
}

TEST(DnsStub, IsNotFooledByNamesThatEndLikeLocalhost) {
  EXPECT_EQ(rcode(*refuse(query("evil-localhost", 1))), 3);
  EXPECT_EQ(rcode(*refuse(query("localhost.com", 1))), 3);
}

TEST(DnsStub, QueryWithExtensionsIsAnsweredWithThem) {
  std::string bytes = query("example.com", 1, "\0\0\x29\x10\0\0\0\0\0\0\0"s);
  bytes[11] = 1;
  const auto answer = refuse(bytes);
  EXPECT_EQ(rcode(*answer), 3);
  EXPECT_EQ(answer->message[11], 1) << "EDNS is answered with EDNS";
}

TEST(DnsStub, ReportsHostileNamesInPrintableForm) {
  const auto answer = refuse(query("a\x01\xff\\b", 1));
  EXPECT_EQ(answer->refused_name, "a\\001\\255\\092b");
}

TEST(DnsStub, NamesAreTheHostsWhereSomethingLeaves) {
  const auto answer = answer_query(query("Example.COM", 16), OtherNames::of_the_host);
  EXPECT_TRUE(answer->message.empty());
  EXPECT_EQ(answer->query.name, "Example.COM");
  EXPECT_TRUE(answer->refused_name.empty());
}

TEST(DnsStub, LocalhostAndPointersAreNeverTheHosts) {
  EXPECT_EQ(rcode(*answer_query(query("localhost", 1), OtherNames::of_the_host)), 0);
  const auto pointer = answer_query(query("5.0.18.198.in-addr.arpa", 12), OtherNames::of_the_host);
  EXPECT_EQ(rcode(*pointer), 3);
  EXPECT_EQ(pointer->refused_name, "5.0.18.198.in-addr.arpa");
}

TEST(DnsStub, AnswersAreDropped) {
  std::string bytes = query("example.com", 1);
  bytes[2] = '\x81';
  EXPECT_FALSE(refuse(bytes).has_value());
  EXPECT_FALSE(refuse("").has_value());
  EXPECT_FALSE(refuse(bytes.substr(0, 11)).has_value());
}

TEST(DnsStub, MalformedQuestionsAreAFormatError) {
  const std::string whole = query("example.com", 1);
  for (size_t n = 12; n < whole.size(); ++n) EXPECT_EQ(rcode(*refuse(whole.substr(0, n))), 1);
  std::string compressed = whole.substr(0, 12) + "\xc0\x0c\0\1\0\1"s;
  EXPECT_EQ(rcode(*refuse(compressed)), 1);
  std::string two_questions = whole;
  two_questions[5] = 2;
  EXPECT_EQ(rcode(*refuse(two_questions)), 1);
  std::string long_name;
  for (int i = 0; i < 5; ++i) long_name += std::string(60, 'x') + ".";
  EXPECT_EQ(rcode(*refuse(query(long_name.substr(0, long_name.size() - 1), 1))), 1);
}

TEST(DnsStub, OtherOperationsAreNotImplemented) {
  std::string bytes = query("example.com", 1);
  bytes[2] = '\x28';  // update
  EXPECT_EQ(rcode(*refuse(bytes)), 4);
}

}  // namespace
}  // namespace paddock::agent
