#include "cmd/learned_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paddock::cmd {
namespace {

using model::EgressEvent;
using model::EgressEventKind;
using model::EgressVerdict;
using ::testing::HasSubstr;
using ::testing::Not;

EgressEvent seen(const char* host, uint16_t port, const char* protocol) {
  EgressEvent event;
  event.kind = EgressEventKind::connection;
  event.verdict = EgressVerdict::audited;
  event.host = host;
  event.port = port;
  event.protocol = protocol;
  event.rule = "egress:learn";
  return event;
}

TEST(LearnedPolicy, OneRuleForEachHost) {
  EgressEvent allowed = seen("known.example", 443, "tls");
  allowed.verdict = EgressVerdict::allowed;
  const std::string text =
      learned_policy({.events = {seen("a.example", 443, "tls"), seen("a.example", 8443, "tls"),
                                 seen("192.0.2.1", 22, "ssh"), allowed},
                      .dropped = 0});
  EXPECT_THAT(text, HasSubstr("hosts = [\"a.example\"]\nports = [443, 8443]\nprotocol = \"tls\""));
  EXPECT_THAT(text, HasSubstr("addresses = [\"192.0.2.1\"]\nports = [22]\nprotocol = \"ssh\""));
  EXPECT_THAT(text, Not(HasSubstr("known.example")));
}

TEST(LearnedPolicy, RequestsGiveMethodsAndPaths) {
  EgressEvent request = seen("a.example", 80, "http");
  request.kind = EgressEventKind::request;
  request.method = "GET";
  request.path = "/\"x";
  EXPECT_THAT(learned_policy({.events = {request}, .dropped = 0}),
              HasSubstr("methods = [\"GET\"]\npaths = [\"/\\\"x\"]"));
}

TEST(LearnedPolicy, WhatNoRuleMayGiveIsSaid) {
  EgressEvent denied = seen("10.0.0.1", 80, "");
  denied.verdict = EgressVerdict::denied;
  denied.reason = "a private address";
  EXPECT_EQ(learned_policy({.events = {denied}, .dropped = 0}),
            "# not let out: 10.0.0.1: a private address\n");
  EXPECT_EQ(learned_policy({}), "");
}

}  // namespace
}  // namespace paddock::cmd
