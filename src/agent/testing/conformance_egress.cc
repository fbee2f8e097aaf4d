#include "agent/testing/conformance_egress.h"

#include <chrono>
#include <string>
#include <vector>

#include "base/strings.h"
#include "wire/egress.h"

namespace paddock::agent::testing {

using wire::Denied;
using wire::testing::ClientCommand;
using wire::testing::start_of;

namespace {

const std::string kSynthetic4("\xc6\x12\0\5", 4);  // 198.18.0.5
const std::string kSynthetic6("\x20\1\0\2\0\0\0\0\0\0\0\0\0\0\0\5", 16);

void redirect(wire::Egress& egress, std::string address, uint32_t prefix) {
  wire::AddressBlock* block = egress.add_redirected();
  block->set_address(std::move(address));
  block->set_prefix(prefix);
}

}  // namespace

wire::Setup EgressConformance::shared_setup() const {
  wire::Setup setup = AgentConformance::shared_setup();
  wire::Egress& egress = *setup.mutable_egress();
  redirect(egress, std::string("\xc6\x12\0\0", 4), 15);
  redirect(egress, std::string("\x20\1\0\2\0\0\0\0\0\0\0\0\0\0\0\0", 16), 96);
  redirect(egress, std::string("\xcb\0\x71\x50", 4), 32);  // 203.0.113.80
  return setup;
}

wire::Setup ProxyConformance::shared_setup() const {
  wire::Setup setup = AgentConformance::shared_setup();
  setup.mutable_egress()->set_form(wire::Egress::PROXY);
  return setup;
}

void EgressConformance::SetUp() {
  AgentConformance::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  ASSERT_EQ(evidence().network_error(), "");
  ASSERT_TRUE(evidence().egress());
  client().on_name = [](const wire::NameQuery& query) {
    wire::NameAnswer answer;
    answer.set_query(query.query());
    if (query.name() == "Allowed.example") {
      answer.set_v4(kSynthetic4);
      answer.set_v6(kSynthetic6);
    } else {
      answer.set_reason("no rule allows it");
    }
    return answer;
  };
}

EgressConformance::Carried EgressConformance::carry(std::vector<std::string> argv) {
  Carried carried;
  carried.command = client().start(start_of(std::move(argv)));
  client().end_input(carried.command);
  auto query = client().next_connect_query();
  EXPECT_TRUE(query.ok());
  if (query.ok()) carried.query = *query;
  carried.stream = client().accept(carried.query);
  return carried;
}

std::string EgressConformance::output_of_command(uint32_t command) {
  EXPECT_TRUE(client().wait_for(command).ok());
  return client().take(command).out;
}

// ---- names

TEST_P(EgressConformance, AddressesOfANameAreTheHostsWord) {
  EXPECT_EQ(output_of(start_of({"agent-guest", "resolve", "Allowed.example", "1"})),
            "rcode 0 198.18.0.5\n");
  EXPECT_EQ(output_of(start_of({"agent-guest", "resolve", "Allowed.example", "28"})),
            "rcode 0 2001:2::5\n");
  EXPECT_EQ(output_of(start_of({"agent-guest", "lookup-tcp", "Allowed.example"})), "rcode 0\n");
}

TEST_P(EgressConformance, OtherRecordsOfANameAreEmpty) {
  EXPECT_EQ(output_of(start_of({"agent-guest", "resolve", "Allowed.example", "16"})), "rcode 0\n");
}

TEST_P(EgressConformance, NameThatTheHostRefusesDoesNotExist) {
  const auto begin = Clock::now();
  EXPECT_EQ(output_of(start_of({"agent-guest", "lookup", "denied.example"})), "rcode 3\n");
  EXPECT_EQ(output_of(start_of({"agent-guest", "lookup-tcp", "denied.example"})), "rcode 3\n");
  EXPECT_LT(ms_since(begin), at_once());
}

TEST_P(EgressConformance, HostLearnsWhoAskedForAName) {
  output_of(start_of({"agent-guest", "lookup", "who.example"}));
  const wire::NameQuery& query = client().name_queries().back();
  EXPECT_EQ(query.name(), "who.example");
  EXPECT_EQ(query.asker().process(), "agent-guest");
  EXPECT_GT(query.asker().pid(), 1);
}

TEST_P(EgressConformance, LocalhostIsNoneOfTheHosts) {
  const size_t before = client().name_queries().size();
  EXPECT_EQ(output_of(start_of({"agent-guest", "resolve", "localhost", "1"})),
            "rcode 0 127.0.0.1\n");
  EXPECT_EQ(client().name_queries().size(), before);
}

TEST_P(EgressConformance, FloodOfNamesGoesOnAndIsAnswered) {
  const int count = scaled(5000);
  output_of(start_of({"agent-guest", "refused-names", std::to_string(count)}));
  EXPECT_EQ(output_of(start_of({"agent-guest", "lookup", "Allowed.example"})), "rcode 0\n");
}

// ---- connections

TEST_P(EgressConformance, ConnectionReachesTheHostWithItsDestination) {
  for (const auto& [host, address] :
       {std::pair{"198.18.0.5", kSynthetic4}, std::pair{"2001:2::5", kSynthetic6},
        std::pair{"203.0.113.80", std::string("\xcb\0\x71\x50", 4)}}) {
    SCOPED_TRACE(host);
    const Carried carried = carry({"agent-guest", "talk", host, "443", "hello"});
    EXPECT_EQ(carried.query.address(), address);
    EXPECT_EQ(carried.query.port(), 443u);
    EXPECT_EQ(carried.query.asker().process(), "agent-guest");
    EXPECT_GT(carried.query.asker().pid(), 1);
    client().write(carried.stream, "welcome");
    auto& connection = client().connection(carried.stream);
    ASSERT_TRUE(client().wait_until([&] { return connection.ended; }).ok());
    EXPECT_EQ(connection.in, "hello");
    client().write(carried.stream, ", stranger");  // its writing side is closed, ours is not
    client().end(carried.stream);
    EXPECT_EQ(output_of_command(carried.command), "welcome, stranger\n");
  }
}

TEST_P(EgressConformance, RefusedConnectionIsResetAtOnce) {
  const auto begin = Clock::now();
  const uint32_t command =
      client().start(start_of({"agent-guest", "talk", "198.18.0.5", "25", "hello"}));
  auto query = client().next_connect_query();
  ASSERT_TRUE(query.ok());
  client().refuse(*query, "no rule allows it");
  EXPECT_EQ(output_of_command(command), "Connection reset by peer\n");
  EXPECT_LT(ms_since(begin), at_once());
}

TEST_P(EgressConformance, ConnectionThatBreaksOutsideIsResetInside) {
  const Carried carried = carry({"agent-guest", "talk", "198.18.0.5", "443", "hello"});
  client().write(carried.stream, "part");
  ASSERT_TRUE(client().wait_until([&] { return client().connection(carried.stream).ended; }).ok());
  client().abort(carried.stream);
  EXPECT_EQ(output_of_command(carried.command), "partConnection reset by peer\n");
}

TEST_P(EgressConformance, ConnectionThatBreaksInsideIsAbortedOutside) {
  const Carried carried = carry({"agent-guest", "break", "198.18.0.5", "443"});
  ASSERT_TRUE(
      client().wait_until([&] { return client().connection(carried.stream).aborted; }).ok());
  output_of_command(carried.command);
}

TEST_P(EgressConformance, BigStreamsArriveWholeBothWays) {
  const std::string size = std::to_string(static_cast<size_t>(scaled(64)) << 20);
  const Carried carried = carry({"agent-guest", "pour", "198.18.0.5", "443", size});
  client().connection(carried.stream).echo = true;
  EXPECT_EQ(output_of_command(carried.command), size + "\n");
}

TEST_P(EgressConformance, SlowFarEndHoldsUpNobodyElse) {
  const Carried slow = carry({"agent-guest", "pour", "198.18.0.5", "443", "4000000"});
  auto& connection = client().connection(slow.stream);
  connection.paused = true;
  ASSERT_TRUE(
      client().wait_until([&] { return connection.in_bytes == wire::kConnectionCredit; }).ok());
  const Carried quick = carry({"agent-guest", "pour", "198.18.0.5", "443", "100000"});
  client().connection(quick.stream).echo = true;
  EXPECT_EQ(output_of_command(quick.command), "100000\n");
  EXPECT_EQ(connection.in_bytes, size_t{wire::kConnectionCredit}) << "it is blocked";
  client().abort(slow.stream);
  output_of_command(slow.command);
}

TEST_P(EgressConformance, CrowdIsBoundedAndTheRestIsReset) {
  const int tried = static_cast<int>(wire::kMaxConnections) + 50;
  const uint32_t command =
      client().start(start_of({"agent-guest", "crowd", "198.18.0.5", "44", std::to_string(tried)}));
  uint64_t refused = 0;
  while (refused < 50) {
    const auto denied = client().find_denial(Denied::NETWORK, "tcp 198.18.0.5:44");
    ASSERT_TRUE(denied.has_value());
    refused = 0;
    for (const Denied& each : client().denials()) {
      if (each.what() == "tcp 198.18.0.5:44") refused += each.count();
    }
    ASSERT_TRUE(client().pump(10).ok());
  }
  for (size_t i = 0; i < wire::kMaxConnections; ++i) {
    auto query = client().next_connect_query();
    ASSERT_TRUE(query.ok()) << i;
    client().refuse(*query, "");
  }
  EXPECT_EQ(output_of_command(command), "connected\n" + std::to_string(tried) + " reset\n");
}

// ---- what does not leave

TEST_P(EgressConformance, WhatIsNotRedirectedIsRefusedAsWithoutEgress) {
  auto refusal = [&](const char* kind, const char* host, const char* port) {
    return client().run({"agent-guest", kind, host, port})->out;
  };
  EXPECT_EQ(refusal("tcp", "203.0.113.81", "443"), "Connection refused\n");
  EXPECT_EQ(refusal("tcp", "2001:db8::7", "443"), "Connection refused\n");
  EXPECT_EQ(refusal("udp", "198.18.0.5", "443"), "Operation not permitted\n");
  EXPECT_EQ(refusal("udp", "2001:2::5", "443"), "Operation not permitted\n");
  for (const char* what : {"tcp 203.0.113.81:443", "udp 198.18.0.5:443"}) {
    EXPECT_TRUE(client().find_denial(Denied::NETWORK, what).has_value()) << what;
  }
}

TEST_P(EgressConformance, LoopbackIsStillTheSandboxs) {
  EXPECT_EQ(client().run({"agent-guest", "tcp", "127.0.0.1", "9"})->out, "Connection refused\n");
}

TEST_P(EgressConformance, ConnectionToTheListenerItselfLeadsNowhere) {
  EXPECT_EQ(client().run({"agent-guest", "talk", "127.0.0.1", "54", "x"})->out,
            "Connection reset by peer\n");
}

TEST_P(EgressConformance, SocketThatChoseAnotherAddressIsRefusedAtOnce) {
  const auto begin = Clock::now();
  EXPECT_EQ(client().run({"agent-guest", "talk-from", "198.18.0.9", "198.18.0.5", "443"})->out,
            "Connection refused\n");
  EXPECT_LT(ms_since(begin), at_once());
}

TEST_P(EgressConformance, AgentStaysSmall) {
  EXPECT_LT(evidence().agent_private_bytes(), 2u << 20);
}

// ---- the proxy

TEST_P(ProxyConformance, ConnectReachesTheHostWithTheName) {
  const Carried carried =
      carry({"agent-guest", "proxy", "CONNECT Allowed.example:443 HTTP/1.1\r\n\r\nhello"});
  EXPECT_EQ(carried.query.name(), "Allowed.example");
  EXPECT_EQ(carried.query.port(), 443u);
  EXPECT_EQ(carried.query.asker().process(), "agent-guest");
  client().write(carried.stream, "welcome");
  client().end(carried.stream);
  auto& connection = client().connection(carried.stream);
  ASSERT_TRUE(client().wait_until([&] { return connection.ended; }).ok());
  EXPECT_EQ(connection.in, "hello");
  const std::string out = output_of_command(carried.command);
  EXPECT_TRUE(out.starts_with("HTTP/1.1 200 ")) << out;
  EXPECT_TRUE(out.ends_with("\r\n\r\nwelcome\n")) << out;
}

TEST_P(ProxyConformance, RefusedConnectSaysWhy) {
  const uint32_t command = client().start(
      start_of({"agent-guest", "proxy", "CONNECT denied.example:443 HTTP/1.1\r\n\r\n"}));
  auto query = client().next_connect_query();
  ASSERT_TRUE(query.ok());
  client().refuse(*query, "no rule allows it");
  const std::string out = output_of_command(command);
  EXPECT_TRUE(out.starts_with("HTTP/1.1 403 ")) << out;
  EXPECT_NE(out.find("no rule allows it"), std::string::npos) << out;
}

TEST_P(ProxyConformance, WhatIsNoProxyRequestIsEnded) {
  const std::string out = client().run({"agent-guest", "proxy", "GET / HTTP/1.1\r\n\r\n"})->out;
  EXPECT_TRUE(out.starts_with("HTTP/1.1 4") || out.starts_with("HTTP/1.1 5")) << out;
}

TEST_P(ProxyConformance, NothingIsRedirected) {
  EXPECT_EQ(client().run({"agent-guest", "tcp", "198.18.0.5", "443"})->out, "Connection refused\n");
}

}  // namespace paddock::agent::testing
