#include "egress/rules/policy.h"
#include "egress/testing/samples.h"

#include <gtest/gtest.h>

namespace paddock::egress {
namespace {

using model::EgressAction;
using model::EgressPolicy;
using model::EgressProtocol;
using model::EgressRule;
using model::TextList;

EgressRule allow(TextList hosts) {
  EgressRule rule;
  rule.action = EgressAction::allow;
  rule.hosts = std::move(hosts);
  return rule;
}
EgressRule deny(TextList hosts) {
  EgressRule rule = allow(std::move(hosts));
  rule.action = EgressAction::deny;
  return rule;
}
template <typename Change>
EgressRule with(EgressRule rule, Change change) {
  change(rule);
  return rule;
}

std::shared_ptr<const Policy> policy(std::vector<EgressRule> rules) {
  return Policy::compile({{std::move(rules)}}).value();
}
std::string refusal(EgressRule rule) {
  auto compiled = Policy::compile({{{std::move(rule)}}});
  return compiled.ok() ? "" : compiled.error().describe();
}
Answer connect(const Policy& rules, std::string_view host, uint16_t port = 443, Seen seen = {}) {
  return rules.decide(target(host, port), seen).answer;
}
bool resolves(const Policy& rules, std::string_view name) {
  return rules.resolve(HostName::parse(name).value()).answer == Answer::allow;
}

TEST(Policy, NothingIsAllowedByDefault) {
  for (const EgressPolicy& source : {EgressPolicy{}, EgressPolicy{{{}}}, EgressPolicy{{{}, {}}}}) {
    auto empty = Policy::compile(source).value();
    EXPECT_TRUE(empty->empty());
    EXPECT_FALSE(resolves(*empty, "a.example"));
    EXPECT_EQ(connect(*empty, "a.example"), Answer::deny);
    EXPECT_EQ(empty->decide(target("a.example"), {}).rule_name(), "egress");
  }
}

TEST(Policy, AnEmptiedListDoesNotWidenARule) {
  auto rules = policy({allow({}), with(allow({"a.example"}), [](auto& r) { r.ports = TextList(); }),
                       with(allow({"b.example"}), [](auto& r) { r.http.methods = TextList(); })});
  EXPECT_FALSE(resolves(*rules, "a.example"));
  EXPECT_EQ(connect(*rules, "a.example"), Answer::deny);
  http::Request get{.method = "GET", .target = "/", .authority = "b.example", .fields = {}};
  EXPECT_EQ(connect(*rules, "b.example", 80, {.wire = Wire::http, .request = &get}), Answer::deny);
  EXPECT_NE(refusal(allow({" "})), "");
  EXPECT_NE(refusal(allow({""})), "");
  EXPECT_NE(refusal(EgressRule{.action = EgressAction::allow}), "");
}

TEST(Policy, TheFirstRuleThatMatchesDecides) {
  auto rules = policy({deny({"x.a.example"}), allow({"*.a.example"}), deny({"y.a.example"})});
  EXPECT_EQ(connect(*rules, "x.a.example"), Answer::deny);
  EXPECT_EQ(connect(*rules, "y.a.example"), Answer::allow);
  EXPECT_EQ(connect(*rules, "a.example"), Answer::deny);
  EXPECT_FALSE(resolves(*rules, "x.a.example"));
  EXPECT_TRUE(resolves(*rules, "y.a.example"));
}

TEST(Policy, PortsDefaultToThoseOfTheProtocol) {
  auto rules =
      policy({allow({"a.example"}),
              with(allow({"b.example"}), [](auto& r) { r.protocol = EgressProtocol::ssh; })});
  EXPECT_EQ(connect(*rules, "a.example", 80), Answer::allow);
  EXPECT_EQ(connect(*rules, "a.example", 443), Answer::allow);
  EXPECT_EQ(connect(*rules, "a.example", 8080), Answer::deny);
  EXPECT_EQ(connect(*rules, "b.example", 22, {.wire = Wire::ssh}), Answer::allow);
  EXPECT_EQ(connect(*rules, "b.example", 443, {.wire = Wire::ssh}), Answer::deny);
  EXPECT_NE(refusal(with(allow({"a.example"}), [](auto& r) { r.protocol = EgressProtocol::tcp; })),
            "");
}

TEST(Policy, ANameResolvesOnlyWhileSomePortIsLeft) {
  auto closed = [](TextList ports) {
    return policy({with(deny({"a.example"}), [&](auto& r) { r.ports = std::move(ports); }),
                   allow({"a.example"})});
  };
  EXPECT_TRUE(resolves(*closed({"443"}), "a.example"));
  EXPECT_FALSE(resolves(*closed({"443", "80"}), "a.example"));
  EXPECT_FALSE(resolves(*closed({"1-79", "80-443"}), "a.example"));
  EXPECT_TRUE(resolves(*closed({"1-79", "81-443"}), "a.example"));
}

TEST(Policy, AProtocolIsAskedForAndNotAssumed) {
  auto rules =
      policy({with(allow({"a.example"}), [](auto& r) { r.protocol = EgressProtocol::tls; })});
  EXPECT_EQ(connect(*rules, "a.example"), Answer::needs_bytes);
  EXPECT_EQ(connect(*rules, "a.example", 443, {.wire = Wire::tls}), Answer::allow);
  for (Wire wire : {Wire::silent, Wire::http, Wire::ssh, Wire::other}) {
    EXPECT_EQ(connect(*rules, "a.example", 443, {.wire = wire}), Answer::deny);
  }
}

TEST(Policy, HttpsIsTlsThatOffersHttp) {
  auto rules =
      policy({with(allow({"a.example"}), [](auto& r) { r.protocol = EgressProtocol::https; })});
  const tls::ClientHello plain{}, h2{{}, {"h2"}, false}, mail{{}, {"imap"}, false};
  auto answer = [&](const tls::ClientHello& hello) {
    return connect(*rules, "a.example", 443, {.wire = Wire::tls, .hello = &hello});
  };
  EXPECT_EQ(answer(plain), Answer::allow);
  EXPECT_EQ(answer(h2), Answer::allow);
  EXPECT_EQ(answer(mail), Answer::deny);
}

TEST(Policy, ARefusalIsMetByWhatCannotBeToldApart) {
  auto rules =
      policy({with(deny({"a.example"}), [](auto& r) { r.protocol = EgressProtocol::http; }),
              with(allow({"a.example"}), [](auto& r) { r.ports = TextList{"*"}; })});
  EXPECT_EQ(connect(*rules, "a.example", 80), Answer::needs_bytes);
  EXPECT_EQ(connect(*rules, "a.example", 80, {.wire = Wire::tls}), Answer::allow);
  EXPECT_EQ(connect(*rules, "a.example", 80, {.wire = Wire::ssh}), Answer::allow);
  for (Wire wire : {Wire::silent, Wire::http, Wire::other}) {
    EXPECT_EQ(connect(*rules, "a.example", 80, {.wire = wire}), Answer::deny);
  }
}

TEST(Policy, HttpConditionsAskForTheRequestAndOpenTls) {
  auto rules =
      policy({with(allow({"a.example"}), [](auto& r) { r.http.methods = TextList{"GET"}; })});
  http::Request get{.method = "GET", .target = "/", .authority = "a.example", .fields = {}};
  http::Request post = get;
  post.method = "POST";
  EXPECT_EQ(connect(*rules, "a.example"), Answer::needs_bytes);
  EXPECT_EQ(connect(*rules, "a.example", 443, {.wire = Wire::tls}), Answer::needs_opening);
  const Seen opened{.wire = Wire::tls, .opening = Opening::done};
  EXPECT_EQ(connect(*rules, "a.example", 443, opened), Answer::needs_bytes);
  Seen seen = opened;
  seen.request = &get;
  EXPECT_EQ(connect(*rules, "a.example", 443, seen), Answer::allow);
  seen.request = &post;
  EXPECT_EQ(connect(*rules, "a.example", 443, seen), Answer::deny);
  EXPECT_EQ(connect(*rules, "a.example", 443, {.wire = Wire::tls, .opening = Opening::impossible}),
            Answer::deny);
  EXPECT_EQ(connect(*rules, "a.example", 443, {.wire = Wire::ssh}), Answer::deny);
}

TEST(Policy, AnExemptionIsARuleInFront) {
  auto rules = policy(
      {with(allow({"pinned.a.example"}), [](auto& r) { r.inspect = model::Inspection::never; }),
       with(allow({"*.a.example"}), [](auto& r) { r.http.methods = TextList{"GET"}; })});
  EXPECT_EQ(connect(*rules, "pinned.a.example", 443, {.wire = Wire::tls}), Answer::allow);
  EXPECT_EQ(connect(*rules, "x.a.example", 443, {.wire = Wire::tls}), Answer::needs_opening);
}

TEST(Policy, InspectAlwaysOpensWhatNeedsNoCondition) {
  auto rules =
      policy({with(allow({"a.example"}), [](auto& r) { r.inspect = model::Inspection::always; })});
  EXPECT_EQ(connect(*rules, "a.example", 443, {.wire = Wire::tls}), Answer::needs_opening);
  EXPECT_EQ(connect(*rules, "a.example", 443, {.wire = Wire::tls, .opening = Opening::done}),
            Answer::allow);
}

TEST(Policy, AnAddressNeedsARuleOfItsOwn) {
  auto by_name = policy({allow({"a.example", "*.a.example"})});
  EXPECT_EQ(connect(*by_name, "8.8.8.8"), Answer::deny);
  EXPECT_EQ(connect(*by_name, "64:ff9b::8.8.8.8"), Answer::deny);
  auto open = policy({with(EgressRule{.action = EgressAction::allow},
                           [](auto& r) { r.every_public_host = true; })});
  EXPECT_EQ(connect(*open, "any.example"), Answer::allow);
  EXPECT_EQ(connect(*open, "8.8.8.8"), Answer::deny);
  auto by_number = policy({with(EgressRule{.action = EgressAction::allow},
                                [](auto& r) { r.every_public_address = true; })});
  EXPECT_EQ(connect(*by_number, "8.8.8.8"), Answer::allow);
  EXPECT_EQ(connect(*by_number, "any.example"), Answer::deny);
  EXPECT_EQ(by_number->literal_blocks().size(), 2u);
  auto block = policy({with(EgressRule{.action = EgressAction::allow},
                            [](auto& r) { r.addresses = TextList{"8.8.8.0/24"}; })});
  EXPECT_EQ(connect(*block, "8.8.8.8"), Answer::allow);
  EXPECT_EQ(connect(*block, "8.8.9.8"), Answer::deny);
  EXPECT_EQ(connect(*block, "::ffff:8.8.8.8"), Answer::deny);
  EXPECT_EQ(connect(*block, "a.example"), Answer::deny);
  EXPECT_EQ(block->literal_blocks().size(), 1u);
  EXPECT_TRUE(by_name->literal_blocks().empty());
}

TEST(Policy, OnlyAnAdminRuleNamesPrivateAddressesAndOnlyOneByOne) {
  auto rule = [](std::string address, model::EgressAuthority authority) {
    return with(EgressRule{.action = EgressAction::allow}, [&](auto& r) {
      r.addresses = TextList{address};
      r.authority = authority;
    });
  };
  using enum model::EgressAuthority;
  for (const char* text : {"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00:ec2::254"}) {
    EXPECT_NE(refusal(rule(text, ordinary)), "") << text;
    EXPECT_EQ(refusal(rule(text, admin)), "") << text;
  }
  for (const char* text : {"10.0.0.0/8", "0.0.0.0/0", "::/0", "127.0.0.0/30"}) {
    EXPECT_NE(refusal(rule(text, admin)), "") << text;
  }
  for (const char* text : {"198.18.0.5", "2001:2::c612:5"}) {
    EXPECT_NE(refusal(rule(text, admin)), "") << text;
  }
}

TEST(Policy, ANameMayResolveToThePrivateAddressThatItsRuleNames) {
  auto rules = policy({with(allow({"db.example"}), [](auto& r) {
    r.addresses = TextList{"10.0.0.5"};
    r.authority = model::EgressAuthority::admin;
  })});
  const auto address = [](const char* text) { return model::IpAddress::parse(text).value(); };
  EXPECT_TRUE(rules->names_exactly(target("db.example"), address("10.0.0.5")));
  EXPECT_FALSE(rules->names_exactly(target("db.example"), address("10.0.0.6")));
  EXPECT_FALSE(rules->names_exactly(target("db.example", 22), address("10.0.0.5")));
  EXPECT_FALSE(rules->names_exactly(target("other.example"), address("10.0.0.5")));
  EXPECT_EQ(connect(*rules, "10.0.0.5"), Answer::deny);
}

TEST(Policy, EveryListMustAllow) {
  auto rules =
      Policy::compile({{{allow({"*.a.example"})}, {allow({"x.a.example", "b.example"})}}}).value();
  EXPECT_EQ(connect(*rules, "x.a.example"), Answer::allow);
  EXPECT_EQ(connect(*rules, "y.a.example"), Answer::deny);
  EXPECT_EQ(connect(*rules, "b.example"), Answer::deny);
  EXPECT_EQ(rules->decide(target("x.a.example"), {}).rules.size(), 2u);
  EXPECT_TRUE(Policy::compile({{{allow({"a.example"})}, {}}}).value()->empty());
}

TEST(Policy, AnAuditRuleLetsThroughAndSaysSo) {
  auto rules =
      policy({with(allow({"a.example"}), [](auto& r) { r.action = EgressAction::audit; })});
  const Verdict verdict = rules->decide(target("a.example"), {});
  EXPECT_EQ(verdict.answer, Answer::allow);
  EXPECT_TRUE(verdict.audited);
}

TEST(Policy, TheReasonOfARuleReachesTheCaller) {
  auto rules = policy({with(deny({"paste.example"}), [](auto& r) {
    r.name = "no-paste";
    r.reason = "put it in the report instead";
  })});
  const Verdict verdict = rules->decide(target("paste.example"), {});
  EXPECT_EQ(verdict.reason, "put it in the report instead");
  EXPECT_EQ(verdict.rule_name(), "egress:no-paste");
  EXPECT_TRUE(rules->refusal_of(HostName::parse("paste.example").value(), 443).has_value());
  EXPECT_FALSE(rules->refusal_of(HostName::parse("other.example").value(), 443).has_value());
}

TEST(Policy, ErrorsNameTheRuleAndItsPlace) {
  const std::string text = refusal(with(allow({"*"}), [](auto& r) {
    r.name = "everything";
    r.origin = "user policy x.toml:3";
  }));
  EXPECT_NE(text.find("egress rule everything (user policy x.toml:3)"), std::string::npos) << text;
  EXPECT_FALSE(Policy::compile({{{with(allow({"a.example"}), [](auto& r) { r.name = "x"; }),
                                  with(allow({"b.example"}), [](auto& r) { r.name = "x"; })}}})
                   .ok());
}

TEST(Policy, ConditionsThatContradictTheProtocolAreRefused) {
  EXPECT_NE(refusal(with(allow({"a.example"}),
                         [](auto& r) {
                           r.protocol = EgressProtocol::ssh;
                           r.http.methods = TextList{"GET"};
                         })),
            "");
  EXPECT_NE(refusal(with(allow({"a.example"}), [](auto& r) { r.git.push = {"main"}; })), "");
  EXPECT_NE(refusal(with(allow({"a.example"}),
                         [](auto& r) {
                           r.inspect = model::Inspection::never;
                           r.http.methods = TextList{"GET"};
                         })),
            "");
  EXPECT_NE(refusal(with(deny({"a.example"}), [](auto& r) { r.addresses = TextList{"8.8.8.8"}; })),
            "");
}

TEST(Policy, GitIsFetchedFromAndPushedToByRef) {
  auto rules = policy({with(allow({"git.example"}), [](auto& r) {
    r.protocol = EgressProtocol::git;
    r.git = {.repositories = {{"o/r"}}, .push = {"agent/*"}, .hold = {}};
  })});
  EXPECT_EQ(connect(*rules, "git.example", 443, {.wire = Wire::tls}), Answer::needs_opening);
  EXPECT_EQ(connect(*rules, "git.example", 22, {.wire = Wire::ssh}), Answer::needs_opening);
  const Seen closed{.wire = Wire::ssh, .opening = Opening::impossible};
  EXPECT_EQ(connect(*rules, "git.example", 22, closed), Answer::deny);
  const GitOperation fetch{.repository = "o/r", .step = GitStep::fetch, .refs = {}};
  const GitOperation other{.repository = "o/x", .step = GitStep::fetch, .refs = {}};
  Seen opened{.wire = Wire::ssh, .opening = Opening::done};
  EXPECT_EQ(connect(*rules, "git.example", 22, opened), Answer::needs_bytes);
  opened.git = &fetch;
  EXPECT_EQ(connect(*rules, "git.example", 22, opened), Answer::allow);
  opened.git = &other;
  EXPECT_EQ(connect(*rules, "git.example", 22, opened), Answer::deny);
  http::Request push{.method = "POST",
                     .target = "/o/r/git-receive-pack",
                     .authority = "git.example",
                     .fields = {}};
  GitOperation operation = find_git_operation(push).value();
  Seen seen{.wire = Wire::tls,
            .opening = Opening::done,
            .hello = nullptr,
            .request = &push,
            .git = &operation};
  EXPECT_EQ(connect(*rules, "git.example", 443, seen), Answer::needs_bytes);
  operation.refs = {{"refs/heads/agent/a"}};
  EXPECT_EQ(connect(*rules, "git.example", 443, seen), Answer::allow);
  operation.refs = {{"refs/heads/main"}};
  EXPECT_EQ(connect(*rules, "git.example", 443, seen), Answer::deny);
  seen.git = nullptr;
  EXPECT_EQ(connect(*rules, "git.example", 443, seen), Answer::deny);
}

}  // namespace
}  // namespace paddock::egress
