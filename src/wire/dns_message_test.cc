#include "wire/dns_message.h"

#include <arpa/nameser.h>
#include <gtest/gtest.h>
#include <resolv.h>

#include <array>
#include <utility>

#include <memory>

#include "wire/testing/dns.h"

namespace paddock::wire {
namespace {

using testing::dns_question;

// The system's own resolver library is the judge of what we build.
struct Parsed {
  std::shared_ptr<const std::string> bytes;  // what `message` points into
  ns_msg message{};
  bool ok = false;
};
Parsed parse_by_libc(const std::string& bytes) {
  Parsed out{.bytes = std::make_shared<const std::string>(bytes)};
  // SAFETY: chars as bytes.
  out.ok = ns_initparse(reinterpret_cast<const unsigned char*>(out.bytes->data()),
                        static_cast<int>(out.bytes->size()), &out.message) == 0;
  return out;
}

TEST(DnsQuery, AQuestionMadeByTheLibcIsRead) {
  std::array<unsigned char, 512> buffer{};
  const int size = res_mkquery(ns_o_query, "Www.Example.com", ns_c_in, ns_t_aaaa, nullptr, 0,
                               nullptr, buffer.data(), buffer.size());
  ASSERT_GT(size, 0);
  // SAFETY: bytes as chars.
  const DnsQuery query =
      parse_dns_query({reinterpret_cast<char*>(buffer.data()), static_cast<size_t>(size)}).value();
  EXPECT_EQ(query.name, "Www.Example.com");
  EXPECT_EQ(query.type, kDnsTypeAaaa);
  EXPECT_EQ(query.klass, kDnsClassIn);
  EXPECT_TRUE(query.recursion_desired);
  EXPECT_FALSE(query.has_edns);
}

TEST(DnsQuery, EdnsIsRead) {
  const DnsQuery query =
      parse_dns_query(dns_question({.name = "a.example", .edns_size = 4096})).value();
  EXPECT_TRUE(query.has_edns);
  EXPECT_EQ(query.udp_size, 4096);
}

TEST(DnsQuery, BytesThatNoTextNameHasAreEscaped) {
  auto name = [](std::vector<std::string> labels) {
    return parse_dns_query(dns_question({.labels = std::move(labels)})).value().name;
  };
  EXPECT_EQ(name({"a.b", "example"}), "a\\046b.example");
  EXPECT_EQ(name({std::string("a\0b", 3), "example"}), "a\\000b.example");
  EXPECT_EQ(name({"a\\b", "\xc3\xbc", " "}), "a\\092b.\\195\\188.\\032");
  EXPECT_EQ(name({}), ".");
}

TEST(DnsQuery, WhatIsNoPlainQuestionIsRefused) {
  const std::string good = dns_question({.name = "a.example"});
  ASSERT_TRUE(parse_dns_query(good).ok());
  for (size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_FALSE(parse_dns_query(good.substr(0, cut)).ok());
  EXPECT_FALSE(parse_dns_query(good + "x").ok());
  auto changed = [&](size_t at, char to) {
    std::string bad = good;
    bad[at] = to;
    return parse_dns_query(bad).ok();
  };
  EXPECT_FALSE(changed(2, '\x81'));  // a reply
  EXPECT_FALSE(changed(2, '\x28'));  // an update
  EXPECT_FALSE(changed(5, 0));       // no question
  EXPECT_FALSE(changed(5, 2));
  EXPECT_FALSE(changed(7, 1));        // an answer
  EXPECT_FALSE(changed(12, '\xc0'));  // compression, to itself
  EXPECT_FALSE(changed(12, '\x40'));
}

TEST(DnsQuery, NamesAreBounded) {
  const std::string label(63, 'a');
  EXPECT_TRUE(
      parse_dns_query(dns_question({.labels = {label, label, label, std::string(61, 'a')}})).ok());
  EXPECT_FALSE(
      parse_dns_query(dns_question({.labels = {label, label, label, std::string(62, 'a')}})).ok());
}

TEST(DnsReply, TheLibcReadsOurAddresses) {
  const DnsQuery query = parse_dns_query(dns_question({.name = "A.example", .id = 77})).value();
  Parsed parsed = parse_by_libc(
      build_dns_reply(query, {.addresses = {"\xc6\x12\x01\x10", std::string(16, 'x')}, .ttl = 5}));
  ASSERT_TRUE(parsed.ok);
  EXPECT_EQ(ns_msg_id(parsed.message), 77);
  EXPECT_EQ(ns_msg_getflag(parsed.message, ns_f_ra), 1);
  EXPECT_EQ(ns_msg_getflag(parsed.message, ns_f_rcode), ns_r_noerror);
  ASSERT_EQ(ns_msg_count(parsed.message, ns_s_an), 1);
  ns_rr record{};
  ASSERT_EQ(ns_parserr(&parsed.message, ns_s_an, 0, &record), 0);
  EXPECT_STREQ(ns_rr_name(record), "A.example");
  EXPECT_EQ(ns_rr_type(record), ns_t_a);
  EXPECT_EQ(ns_rr_ttl(record), 5u);
  EXPECT_EQ(ns_rr_rdlen(record), 4);
}

TEST(DnsReply, ARefusalSaysWhyToWhoeverSpeaksEdns) {
  const DnsReply refusal{.code = DnsCode::name_error, .reason = "egress: no rule allows it"};
  const auto with_edns =
      parse_dns_query(dns_question({.name = "a.example", .edns_size = 1232})).value();
  const std::string told = build_dns_reply(with_edns, refusal);
  EXPECT_NE(told.find("no rule allows it"), std::string::npos);
  Parsed parsed = parse_by_libc(told);
  ASSERT_TRUE(parsed.ok);
  EXPECT_EQ(ns_msg_getflag(parsed.message, ns_f_rcode), ns_r_nxdomain);
  EXPECT_EQ(ns_msg_count(parsed.message, ns_s_ar), 1);
  const auto without = parse_dns_query(dns_question({.name = "a.example"})).value();
  EXPECT_EQ(build_dns_reply(without, refusal).find("no rule"), std::string::npos);
}

TEST(DnsReply, ItNeverOutgrowsTheQuery) {
  const std::string label(63, 'a');
  const auto query =
      parse_dns_query(dns_question({.labels = {label, label, label, std::string(61, 'a')}}))
          .value();
  const std::string reply =
      build_dns_reply(query, {.addresses = std::vector<std::string>(100, "\x7f\x01\x01\x01"),
                              .reason = std::string(999, 'r')});
  EXPECT_LE(reply.size(), 512u);
  EXPECT_TRUE(parse_by_libc(reply).ok);
}

TEST(DnsFormatError, AnswersQueriesAndNothingElse) {
  Parsed parsed = parse_by_libc(dns_format_error(dns_question({.name = "a", .id = 9}) + "junk"));
  ASSERT_TRUE(parsed.ok);
  EXPECT_EQ(ns_msg_id(parsed.message), 9);
  EXPECT_EQ(ns_msg_getflag(parsed.message, ns_f_rcode), ns_r_formerr);
  EXPECT_EQ(dns_format_error("short"), "");
  std::string reply = dns_question({.name = "a"});
  reply[2] = '\x81';
  EXPECT_EQ(dns_format_error(reply), "");
  reply[2] = '\x28';
  parsed = parse_by_libc(dns_format_error(reply));
  ASSERT_TRUE(parsed.ok);
  EXPECT_EQ(ns_msg_getflag(parsed.message, ns_f_rcode), ns_r_notimpl);
}

}  // namespace
}  // namespace paddock::wire
