#include "egress/gate.h"

#include <gtest/gtest.h>

#include "egress/testing/harness.h"
#include "egress/testing/hello.h"

namespace paddock::egress {
namespace {

using model::EgressEventKind;
using model::EgressVerdict;
using testing::allow_rule;
using testing::Harness;
using testing::openssl_hello;
using testing::Peer;
using testing::Server;

void echo(Peer& peer) {
  for (std::string bytes = peer.read_some(); !bytes.empty(); bytes = peer.read_some())
    peer.write(bytes);
  peer.end_writing();
}

TEST(GateNames, AnAllowedNameGetsAnAddressAndNothingIsAsked) {
  Harness harness({allow_rule("a.example")});
  const SyntheticPair pair = harness.gate->resolve({harness.id, "A.Example.", {}}).value();
  EXPECT_TRUE(SyntheticAddresses::is_synthetic(pair.v4));
  EXPECT_TRUE(harness.resolver->asked.empty());
}

TEST(GateNames, ADeniedNameIsRefusedWithTheReasonAndRecorded) {
  Harness harness({allow_rule("a.example")});
  auto refused = harness.gate->resolve({harness.id, "secret.evil.example", {42, "node"}});
  EXPECT_EQ(refused.error().code(), Code::permission_denied);
  const model::EgressEvent event = harness.wait_event(0);
  EXPECT_EQ(event.kind, EgressEventKind::name);
  EXPECT_EQ(event.verdict, EgressVerdict::denied);
  EXPECT_EQ(event.host, "secret.evil.example");
  EXPECT_EQ(event.pid, 42);
  EXPECT_EQ(event.process, "node");
  EXPECT_EQ(to_denial(event).what, "secret.evil.example");
  EXPECT_TRUE(harness.resolver->asked.empty());
  EXPECT_FALSE(harness.gate->resolve({harness.id, "a.example\\000.x", {}}).ok());
}

TEST(GateNames, AnUnknownSandboxHasNone) {
  Harness harness({allow_rule("a.example")});
  EXPECT_EQ(harness.gate->resolve({model::SandboxId(), "a.example", {}}).error().code(),
            Code::not_found);
}

TEST(GateConnections, BytesPassBothWaysAndEachSideEndsOnItsOwn) {
  Harness harness({allow_rule("a.example")});
  Server server({.serve = echo});
  {
    Peer program = harness.connect("a.example", server.port());
    const std::string sent(1 << 20, 'x');
    std::thread writer([&] {
      program.write(sent);
      program.end_writing();
    });
    EXPECT_EQ(program.read_all().size(), sent.size());
    writer.join();
  }
  const model::EgressEvent event = harness.wait_event(0);
  EXPECT_EQ(event.verdict, EgressVerdict::allowed);
  EXPECT_EQ(event.rule, "egress:1");
  EXPECT_EQ(event.address, "127.0.0.1");
  EXPECT_EQ(event.request_bytes, 1u << 20);
  EXPECT_EQ(event.response_bytes, 1u << 20);
  EXPECT_EQ(harness.wait_ending().first, Ending::closed);
}

TEST(GateConnections, ASyntheticAddressIsItsName) {
  Harness harness({allow_rule("a.example")});
  Server server({.serve = echo});
  const SyntheticPair pair = harness.gate->resolve({harness.id, "a.example", {}}).value();
  for (const model::IpAddress& address : {pair.v4, pair.v6}) {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    ASSERT_TRUE(harness.gate
                    ->open({.sandbox = harness.id,
                            .destination = address,
                            .port = server.port(),
                            .asker = {},
                            .stream = sys::SocketFd(fds[1]),
                            .on_end = {}})
                    .ok());
    Peer program(sys::SocketFd(fds[0]), nullptr, "");
    program.write("hi\n");
    EXPECT_EQ(program.read_count(3), "hi\n");
  }
}

TEST(GateConnections, AnAddressThatStandsForNothingIsRefused) {
  Harness harness({allow_rule("a.example")});
  for (const char* text :
       {"198.18.0.99", "2001:2::c612:99", "9.9.9.9", "127.0.0.1", "169.254.169.254"}) {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    sys::SocketFd other(fds[0]);
    EXPECT_EQ(harness.gate
                  ->open({.sandbox = harness.id,
                          .destination = model::IpAddress::parse(text).value(),
                          .port = 80,
                          .asker = {},
                          .stream = sys::SocketFd(fds[1]),
                          .on_end = {}})
                  .error()
                  .code(),
              Code::permission_denied)
        << text;
  }
}

TEST(GateConnections, AHostThatSpeaksFirstIsHeard) {
  Harness harness({allow_rule("a.example")});
  Server server({.serve = [](Peer& peer) {
    peer.write("220 mail\r\n");
    EXPECT_EQ(peer.read_until("\n"), "GET / HTTP/1.1\n");
    peer.write("ok");
  }});
  Peer program = harness.connect("a.example", server.port());
  EXPECT_EQ(program.read_until("\n"), "220 mail\r\n");
  program.write("GET / HTTP/1.1\n");
  EXPECT_EQ(program.read_count(2), "ok");
}

TEST(GateConnections, AShortWordThatWaitsForItsAnswerPassesSoon) {
  Harness harness({allow_rule("a.example")});
  Server server({.serve = [](Peer& peer) {
    EXPECT_EQ(peer.read_count(5), "HELLO");
    peer.write("yes");
    peer.read_all();
  }});
  Peer program = harness.connect("a.example", server.port());
  program.write("HELLO");
  EXPECT_EQ(program.read_count(3), "yes");
}

TEST(GateConnections, HttpThatBeginsSlowlyGetsRoundNothing) {
  Harness harness({allow_rule("a.example")});
  std::string received;
  Server server({.serve = [&](Peer& peer) { received = peer.read_all(); }});
  {
    Peer program = harness.connect("a.example", server.port());
    program.write("GE");
    usleep(600 * 1000);
    program.write("T / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    EXPECT_EQ(program.read_some(), "");
  }
  EXPECT_EQ(harness.wait_event(0).verdict, EgressVerdict::denied);
  EXPECT_EQ(received.find("evil"), std::string::npos);
}

TEST(GateConnections, ANameThatResolvesToAPrivateAddressIsNotDialled) {
  model::EgressRule plain = allow_rule("a.example");
  plain.addresses = {};
  plain.authority = model::EgressAuthority::ordinary;
  Harness harness({plain});
  Server server({.serve = echo});
  for (const char* address : {"127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1",
                              "64:ff9b::7f00:1", "fd00:ec2::254", "0.0.0.0"}) {
    harness.resolver->answers["a.example"] = {address};
    Peer program = harness.connect("a.example", server.port());
    EXPECT_EQ(program.read_some(), "");
  }
  EXPECT_EQ(server.connections(), 0);
  const model::EgressEvent event = harness.wait_event(7);
  EXPECT_EQ(event.verdict, EgressVerdict::denied);
  EXPECT_NE(event.reason.find("a.example resolves to"), std::string::npos) << event.reason;
  EXPECT_EQ(harness.wait_ending().first, Ending::aborted);
}

TEST(GateConnections, OfSeveralAddressesOnlyTheAllowedOnesAreDialled) {
  Harness harness({allow_rule("a.example")});
  Server server({.serve = echo});
  harness.resolver->answers["a.example"] = {"10.0.0.1", "169.254.169.254", "127.0.0.1"};
  Peer program = harness.connect("a.example", server.port());
  program.write("hi");
  EXPECT_EQ(program.read_count(2), "hi");
}

TEST(GateConnections, ARuleAgainstAnAddressHoldsForNamesThatLeadToIt) {
  model::EgressRule block;
  block.addresses = model::TextList{"127.0.0.0/8"};
  block.reason = "not there";
  Harness harness({block, allow_rule("a.example")});
  Server server({.serve = echo});
  Peer program = harness.connect("a.example", server.port());
  EXPECT_EQ(program.read_some(), "");
  EXPECT_EQ(server.connections(), 0);
}

TEST(GateConnections, AHostThatDoesNotAnswerIsAResetAndAFailure) {
  Harness harness({allow_rule("a.example")});
  uint16_t port = 0;
  {
    Server gone({.serve = echo});
    port = gone.port();
  }
  Peer program = harness.connect("a.example", port);
  EXPECT_EQ(program.read_some(), "");
  const model::EgressEvent event = harness.wait_event(0);
  EXPECT_EQ(event.verdict, EgressVerdict::failed);
  EXPECT_NE(event.reason.find("refused"), std::string::npos);
}

// --- TLS without looking inside
// --------------------------------------------------------------------

TEST(GateTls, AHelloForTheNamePasses) {
  Harness harness({allow_rule("a.example")});
  Server server({.serve = echo});
  Peer program = harness.connect("a.example", server.port());
  const std::string hello = openssl_hello({});
  program.write(hello.substr(0, 50));
  program.write(hello.substr(50));
  EXPECT_EQ(program.read_count(hello.size()), hello);
}

// The record header of a fatal alert, and what it says.
std::string alert(char what) {
  return std::string("\x15\x03\x03\x00\x02\x02", 6) + what;
}

TEST(GateTls, AHelloForAnotherNameIsRefusedByAnAlert) {
  Harness harness({allow_rule("a.example")});
  Server server({.serve = [](Peer& peer) { EXPECT_EQ(peer.read_all(), ""); }});
  for (const char* name : {"b.example", "x.a.example", "a.example.evil.example"}) {
    Peer program = harness.connect("a.example", server.port());
    program.write(openssl_hello({.server_name = name}));
    EXPECT_EQ(program.read_all(), alert(49)) << name;
  }
  EXPECT_EQ(harness.wait_event(2).verdict, EgressVerdict::denied);
}

TEST(GateTls, OpaqueTlsIsTheRulesChoice) {
  const std::string nameless = openssl_hello({.server_name = ""});
  Server server({.serve = echo});
  {
    Harness harness({allow_rule("a.example")});
    Peer program = harness.connect("a.example", server.port());
    program.write(nameless);
    EXPECT_EQ(program.read_all(), alert(49));
  }
  model::EgressRule opaque = allow_rule("a.example");
  opaque.opaque_tls = model::OpaqueTls::accepted;
  Harness harness({opaque});
  Peer program = harness.connect("a.example", server.port());
  program.write(nameless);
  EXPECT_EQ(program.read_count(nameless.size()), nameless);
}

TEST(GateTls, AnAddressWithAHelloForADeniedNameIsRefused) {
  model::EgressRule evil;
  evil.hosts = model::TextList{"evil.example"};
  model::EgressRule literal;
  literal.action = model::EgressAction::allow;
  literal.addresses = model::TextList{"127.0.0.1"};
  literal.ports = model::TextList{"*"};
  literal.authority = model::EgressAuthority::admin;
  Harness harness({evil, literal});
  Server server({.serve = echo});
  Peer fine = harness.connect("127.0.0.1", server.port());
  fine.write(openssl_hello({.server_name = "good.example"}));
  EXPECT_NE(fine.read_count(7), alert(49));
  Peer fronted = harness.connect("127.0.0.1", server.port());
  fronted.write(openssl_hello({.server_name = "evil.example"}));
  EXPECT_EQ(fronted.read_all(), alert(49));
}

// --- life
// ------------------------------------------------------------------------------------------

TEST(GateRules, ConnectionsThatNewRulesDoNotAllowAreClosed) {
  Harness harness({allow_rule("a.example"), allow_rule("b.example")});
  Server first({.serve = echo}), second({.serve = echo});
  Peer a = harness.connect("a.example", first.port()),
       b = harness.connect("b.example", second.port());
  a.write("a");
  b.write("b");
  EXPECT_EQ(a.read_count(1) + b.read_count(1), "ab");
  harness.set_rules({allow_rule("b.example")});
  EXPECT_EQ(a.read_some(), "");
  EXPECT_EQ(harness.wait_ending().first, Ending::aborted);
  b.write("still");
  EXPECT_EQ(b.read_count(5), "still");
}

TEST(GateRules, AnAddressIsClosedWhenTheNameThatItsHelloAskedForIsDenied) {
  model::EgressRule literal;
  literal.action = model::EgressAction::allow;
  literal.addresses = model::TextList{"127.0.0.1"};
  literal.ports = model::TextList{"*"};
  literal.authority = model::EgressAuthority::admin;
  Harness harness({literal});
  Server first({.serve = echo}), second({.serve = echo});
  const std::string hello = openssl_hello({.server_name = "evil.example"});
  Peer fronted = harness.connect("127.0.0.1", first.port());
  fronted.write(hello);
  EXPECT_EQ(fronted.read_count(hello.size()), hello);
  const std::string other_hello = openssl_hello({.server_name = "good.example"});
  Peer other = harness.connect("127.0.0.1", second.port());
  other.write(other_hello);
  EXPECT_EQ(other.read_count(other_hello.size()), other_hello);
  model::EgressRule evil;
  evil.hosts = model::TextList{"evil.example"};
  harness.set_rules({evil, literal});
  EXPECT_EQ(fronted.read_some(), "");
  other.write("still");
  EXPECT_EQ(other.read_count(5), "still");
}

TEST(GateRules, WhatPassesIsClosedWhenNewRulesWantToLookIntoIt) {
  Harness harness({allow_rule("a.example")});
  Server server({.serve = echo});
  Peer program = harness.connect("a.example", server.port());
  program.write("not HTTP at all\n");
  EXPECT_EQ(program.read_count(16), "not HTTP at all\n");
  model::EgressRule looks = allow_rule("a.example");
  looks.http.methods = model::TextList{"GET"};
  harness.set_rules({looks});
  EXPECT_EQ(program.read_some(), "");
}

TEST(GateRules, AForgottenSandboxLosesItsConnections) {
  Harness harness({allow_rule("a.example")});
  Server server({.serve = echo});
  Peer program = harness.connect("a.example", server.port());
  program.write("x");
  EXPECT_EQ(program.read_count(1), "x");
  harness.gate->forget(harness.id);
  EXPECT_EQ(program.read_some(), "");
  EXPECT_FALSE(harness.open("a.example", server.port()).status.ok());
}

TEST(GateRules, TheGateEndsWithConnectionsOpen) {
  Server server({.serve = echo});
  auto harness = std::make_unique<Harness>(std::vector{allow_rule("a.example")});
  Peer program = harness->connect("a.example", server.port());
  program.write("x");
  EXPECT_EQ(program.read_count(1), "x");
  harness.reset();
  EXPECT_EQ(program.read_some(), "");
}

TEST(GateBudget, BytesAndStreamsAreCounted) {
  model::EgressRule small = allow_rule("a.example");
  small.budget.request_bytes = 1000;
  small.budget.streams = 1;
  Harness harness({small});
  Server server({.serve = echo});
  Peer program = harness.connect("a.example", server.port());
  program.write(std::string(900, 'x'));
  EXPECT_EQ(program.read_count(900).size(), 900u);
  Peer second = harness.connect("a.example", server.port());
  second.write("x");
  EXPECT_EQ(second.read_some(), "");
  program.write(std::string(200, 'x'));
  EXPECT_EQ(program.read_some(), "");
  EXPECT_TRUE(harness.wait_until([&] {
    return std::any_of(harness.events.begin(), harness.events.end(),
                       [](const model::EgressEvent& event) {
                         return event.reason.find("1000 bytes sent") != std::string::npos;
                       });
  }));
}

}  // namespace
}  // namespace paddock::egress
