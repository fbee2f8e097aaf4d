// Requests on connections that are looked into: in the clear and by TLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "base/base64.h"
#include "egress/git/packet.h"
#include "egress/pushes/push_store.h"
#include "egress/testing/harness.h"
#include "egress/testing/samples.h"

namespace paddock::egress {
namespace {

using model::EgressEvent;
using model::EgressEventKind;
using model::EgressVerdict;
using model::TextList;
using testing::allow_rule;
using testing::Harness;
using ::testing::HasSubstr;
using testing::Peer;
using testing::Server;
using ::testing::StartsWith;

model::EgressRule http_rule(const std::string& host, std::optional<TextList> methods = {},
                            std::optional<TextList> paths = {}) {
  model::EgressRule rule = allow_rule(host);
  rule.http.methods = std::move(methods);
  rule.http.paths = std::move(paths);
  return rule;
}

// Answers each request with what it was.
void mirror(Peer& peer) {
  while (true) {
    const std::string head = peer.read_until("\r\n\r\n");
    if (head.empty()) return;
    const size_t length = head.find("Content-Length: ");
    std::string body;
    if (length != std::string::npos) body = peer.read_count(std::stoul(head.substr(length + 16)));
    const std::string seen = head + body;
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(seen.size()) + "\r\n\r\n" +
               seen);
  }
}

std::string get(const std::string& path, const std::string& more = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: a.example\r\n" + more + "\r\n";
}

// One response of a Content-Length.
std::string read_response(Peer& program) {
  const std::string head = program.read_until("\r\n\r\n");
  const size_t at = head.find("ontent-");
  const size_t length = head.find("ength: ");
  if (at == std::string::npos || length == std::string::npos) return head;
  return head + program.read_count(std::stoul(head.substr(length + 7)));
}

// A program that speaks TLS and trusts the gate's authority.
class TlsProgram {
 public:
  TlsProgram(Harness& harness, uint16_t port, const std::string& host = "a.example",
             std::vector<std::string> protocols = {"http/1.1"})
      : opened_(harness.open(host, port)),
        context_(net::make_client_context(harness.gate->authority_pem().value()).value()),
        ssl_(net::make_client(*context_, host, protocols).value()) {
    SSL_set_fd(ssl_.get(), opened_.socket.get());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }

  bool connected() const { return connected_; }
  SSL* ssl() { return ssl_.get(); }
  void write(const std::string& bytes) {
    EXPECT_EQ(SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())),
              static_cast<int>(bytes.size()));
  }
  std::string read_until(const std::string& text) {
    while (pending_.find(text) == std::string::npos && fill()) {
    }
    const size_t end = std::min(pending_.find(text), pending_.size() - text.size()) + text.size();
    return take(end);
  }
  std::string read_count(size_t count) {
    while (pending_.size() < count && fill()) {
    }
    return take(count);
  }
  std::string read_response() {
    const std::string head = read_until("\r\n\r\n");
    const size_t length = head.find("ength: ");
    return length == std::string::npos ? head
                                       : head + read_count(std::stoul(head.substr(length + 7)));
  }

 private:
  bool fill() {
    char buffer[16384];
    const int count = SSL_read(ssl_.get(), buffer, sizeof buffer);
    if (count > 0) pending_.append(buffer, static_cast<size_t>(count));
    return count > 0;
  }
  std::string take(size_t count) {
    std::string out = pending_.substr(0, count);
    pending_.erase(0, out.size());
    return out;
  }

  Harness::Opened opened_;
  net::SslContextPtr context_;
  net::SslPtr ssl_;
  std::string pending_;
  bool connected_ = false;
};

// --- in the clear
// ----------------------------------------------------------------------------------

TEST(Http, EachRequestOfAConnectionIsDecidedOn) {
  Harness harness({http_rule("a.example", TextList{"GET"}, TextList{"/public/**"})});
  Server server({.serve = mirror});
  Peer program = harness.connect("a.example", server.port());
  program.write(get("/public/x"));
  EXPECT_THAT(read_response(program),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("GET /public/x HTTP/1.1")));
  program.write(get("/secret"));
  const std::string refused = read_response(program);
  EXPECT_THAT(
      refused,
      AllOf(StartsWith("HTTP/1.1 403 Forbidden"), HasSubstr("x-paddock-denied: egress\r\n"),
            HasSubstr(R"("reason":"no rule allows it")"), HasSubstr(R"("path":"/secret")")));
  program.write(get("/public/../secret"));
  EXPECT_THAT(read_response(program), StartsWith("HTTP/1.1 403"));
  program.write(get("/public/y"));
  EXPECT_THAT(read_response(program), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(server.connections(), 1);
  const EgressEvent denied = harness.wait_event(1);
  EXPECT_EQ(denied.kind, EgressEventKind::request);
  EXPECT_EQ(denied.verdict, EgressVerdict::denied);
  EXPECT_EQ(denied.path, "/secret");
  EXPECT_EQ(harness.wait_event(0).status, 200);
}

TEST(Http, AnotherHostOnTheSameConnectionIsRefused) {
  Harness harness({allow_rule("a.example"), allow_rule("b.example")});
  Server server({.serve = mirror});
  for (const char* host :
       {"b.example", "evil.example", "a.example.evil.example", "a.example:1", "127.0.0.1"}) {
    Peer program = harness.connect("a.example", server.port());
    program.write(get("/"));
    EXPECT_THAT(read_response(program), StartsWith("HTTP/1.1 200"));
    program.write(std::string("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n");
    EXPECT_THAT(read_response(program), StartsWith("HTTP/1.1 403")) << host;
  }
}

TEST(Http, AnAbsoluteTargetOfAnotherHostIsRefused) {
  Harness harness({allow_rule("a.example")});
  std::atomic<bool> reached{false};
  Server server({.serve = [&](Peer& peer) { reached = !peer.read_some().empty(); }});
  Peer program = harness.connect("a.example", server.port());
  program.write("GET http://evil.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n");
  EXPECT_THAT(read_response(program), StartsWith("HTTP/1.1 400"));
  EXPECT_FALSE(reached);
}

TEST(Http, WhatHidesRequestsIsRefused) {
  Harness harness({http_rule("a.example", TextList{"GET", "POST", "CONNECT"})});
  std::atomic<bool> reached{false};
  Server server({.serve = [&](Peer& peer) { reached = !peer.read_some().empty(); }});
  for (const std::string& bytes :
       {std::string("CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n"),
        get("/",
            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n"),
        std::string(
            "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"),
        std::string("GET / HTTP/1.1\nHost: a.example\n\n"), get("/", "X: a\r\n b\r\n")}) {
    Peer program = harness.connect("a.example", server.port());
    program.write(bytes);
    EXPECT_THAT(read_response(program), ::testing::ContainsRegex("^HTTP/1.1 40[03]")) << bytes;
  }
  EXPECT_FALSE(reached);
}

TEST(Http, ARuleOfTcpLooksAtNothing) {
  model::EgressRule proxy = allow_rule("a.example");
  proxy.protocol = model::EgressProtocol::tcp;
  Harness harness({proxy});
  Server server({.serve = mirror});
  Peer program = harness.connect("a.example", server.port());
  program.write("GET http://deb.example/x HTTP/1.1\r\nHost: deb.example\r\n\r\n");
  EXPECT_THAT(read_response(program), HasSubstr("GET http://deb.example/x"));
}

TEST(Http, BodiesStreamBothWaysAtOnce) {
  Harness harness({http_rule("a.example", TextList{"POST"})});
  Server server({.serve = [](Peer& peer) {
    EXPECT_THAT(peer.read_until("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked"));
    peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(peer.read_until("\r\n"), "4\r\n");
      const std::string word = peer.read_until("\r\n");
      peer.write("6\r\n" + word.substr(0, 4) + "!\n\r\n");
    }
    EXPECT_EQ(peer.read_until("0\r\n\r\n"), "0\r\n\r\n");
    peer.write("0\r\nX-Trailer: 1\r\n\r\n");
  }});
  Peer program = harness.connect("a.example", server.port());
  program.write("POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_THAT(program.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  for (int i = 0; i < 3; ++i) {
    program.write("4\r\nping\r\n");
    EXPECT_EQ(program.read_until("!\n\r\n"), "6\r\nping!\n\r\n");
  }
  program.write("0\r\n\r\n");
  EXPECT_EQ(program.read_until("1\r\n\r\n"), "0\r\nX-Trailer: 1\r\n\r\n");
}

TEST(Http, EventsArriveAsTheyAreSent) {
  Harness harness({http_rule("a.example", TextList{"GET"})});
  std::atomic<bool> go{false};
  Server server({.serve = [&](Peer& peer) {
    peer.read_until("\r\n\r\n");
    peer.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n");
    while (!go) usleep(1000);
    peer.write("data: 2\n\n");
    peer.end_writing();
  }});
  Peer program = harness.connect("a.example", server.port());
  program.write(get("/"));
  EXPECT_THAT(program.read_until("\n\n"), HasSubstr("data: 1"));
  go = true;
  EXPECT_EQ(program.read_all(), "data: 2\n\n");
}

TEST(Http, ContinueIsTheHostsToSay) {
  Harness harness({http_rule("a.example", TextList{"PUT"})});
  Server server({.serve = [](Peer& peer) {
    EXPECT_THAT(peer.read_until("\r\n\r\n"), HasSubstr("Expect: 100-continue"));
    peer.write("HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_EQ(peer.read_count(5), "hello");
    peer.write("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
  }});
  Peer program = harness.connect("a.example", server.port());
  program.write(
      "PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(program.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  program.write("hello");
  EXPECT_THAT(program.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 201"));
}

TEST(Http, AFinalAnswerToAnExpectationClosesTheConnection) {
  Harness harness({http_rule("a.example", TextList{"PUT", "GET"})});
  Server server({.serve = [](Peer& peer) {
    peer.read_until("\r\n\r\n");
    peer.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(peer.read_all(), "");  // whatever came next would be taken for the body
  }});
  Peer program = harness.connect("a.example", server.port());
  program.write(
      "PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 500\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(program.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 401"));
  EXPECT_EQ(program.read_all(), "");
}

TEST(Http, AWebSocketPassesOnceTheHostAgrees) {
  Harness harness({http_rule("a.example", TextList{"GET"})});
  Server server({.serve = [](Peer& peer) {
    peer.read_until("\r\n\r\n");
    peer.write(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "
        "Upgrade\r\n\r\nfirst");
    EXPECT_EQ(peer.read_count(5), "frame");
    peer.write("second");
    peer.end_writing();
  }});
  Peer program = harness.connect("a.example", server.port());
  program.write(get("/", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n"));
  EXPECT_THAT(program.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 101"));
  program.write("frame");
  EXPECT_EQ(program.read_all(), "firstsecond");
}

TEST(Http, AWebSocketEndsWhenNewRulesDoNotAllowIt) {
  Harness harness({http_rule("a.example", TextList{"GET"}, TextList{"/chat"})});
  Server server({.serve = [](Peer& peer) {
    peer.read_until("\r\n\r\n");
    peer.write(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    EXPECT_EQ(peer.read_count(3), "one");
    peer.write("ok");
    EXPECT_EQ(peer.read_all(), "");
  }});
  Peer program = harness.connect("a.example", server.port());
  program.write(
      get("/chat", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n"));
  program.read_until("\r\n\r\n");
  program.write("one");
  EXPECT_EQ(program.read_count(2), "ok");
  harness.set_rules({http_rule("a.example", TextList{"GET"}, TextList{"/other"})});
  program.write("two");
  EXPECT_EQ(program.read_all(), "");
}

TEST(Http, AHostThatIsGoneIsABadGateway) {
  Harness harness({http_rule("a.example", TextList{"GET"})});
  uint16_t port = 0;
  {
    Server gone({.serve = mirror});
    port = gone.port();
  }
  Peer program = harness.connect("a.example", port);
  program.write(get("/"));
  EXPECT_THAT(read_response(program), AllOf(StartsWith("HTTP/1.1 502"), HasSubstr("refused")));
  EXPECT_EQ(harness.wait_event(0).verdict, EgressVerdict::failed);
}

TEST(Http, AResponseThatIsBrokenOffIsNotMadeWhole) {
  Harness harness({http_rule("a.example", TextList{"GET"})});
  Server server({.serve = [](Peer& peer) {
    peer.read_until("\r\n\r\n");
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  }});
  Peer program = harness.connect("a.example", server.port());
  program.write(get("/"));
  program.read_until("\r\n\r\n");
  EXPECT_EQ(program.read_all(), "half");
  EXPECT_EQ(harness.wait_ending().first, Ending::aborted);
}

TEST(Http, AProgramThatLeavesDuringAnUploadLeavesNothingBehind) {
  Harness harness({http_rule("a.example", TextList{"PUT"})});
  std::atomic<bool> ended{false};
  Server server({.serve = [&](Peer& peer) {
    peer.read_until("\r\n\r\n");
    peer.read_all();
    ended = true;
  }});
  {
    Peer program = harness.connect("a.example", server.port());
    program.write("PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 100\r\n\r\nhalf");
  }
  EXPECT_EQ(harness.wait_event(0).verdict, EgressVerdict::failed);
  for (int i = 0; i < 5000 && !ended; ++i) usleep(1000);
  EXPECT_TRUE(ended);
}

TEST(Http, AUploadOfAnySizeIsFlat) {
  Harness harness({http_rule("a.example", TextList{"PUT"})});
  constexpr size_t kSize = 64u << 20;
  std::atomic<size_t> received{0};
  Server server({.serve = [&](Peer& peer) {
    peer.read_until("\r\n\r\n");
    while (received < kSize) {
      const size_t count = peer.read_count(std::min<size_t>(65536, kSize - received)).size();
      if (count == 0) break;
      received += count;
    }
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  }});
  Peer program = harness.connect("a.example", server.port());
  program.write("PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: " + std::to_string(kSize) +
                "\r\n\r\n");
  const std::string piece(1 << 20, 'x');
  for (size_t sent = 0; sent < kSize; sent += piece.size()) program.write(piece);
  EXPECT_THAT(program.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(received, kSize);
}

// --- opened TLS
// ------------------------------------------------------------------------------------

TEST(Https, ARuleOnPathsOpensTls) {
  Harness harness({http_rule("a.example", TextList{"GET"}, TextList{"/public/**"})});
  auto context = harness.server_context("a.example");
  Server server({.serve = mirror, .context = context.get(), .protocol = "http/1.1"});
  TlsProgram program(harness, server.port());
  ASSERT_TRUE(program.connected());
  program.write(get("/public/x"));
  EXPECT_THAT(program.read_response(),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("GET /public/x")));
  program.write(get("/secret"));
  EXPECT_THAT(program.read_response(), StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(harness.wait_event(0).protocol, "https");
}

TEST(Https, ACertificateThatIsNotTheHostsIsABadGateway) {
  Harness harness({http_rule("a.example", TextList{"GET"})});
  auto context = harness.server_context("b.example");
  Server server({.serve = mirror, .context = context.get(), .protocol = {}});
  TlsProgram program(harness, server.port());
  ASSERT_TRUE(program.connected());
  program.write(get("/"));
  EXPECT_THAT(program.read_response(),
              AllOf(StartsWith("HTTP/1.1 502"), HasSubstr("certificate refused")));
}

TEST(Https, WithoutConditionsItStaysShut) {
  Harness harness({allow_rule("a.example")});
  auto context = harness.server_context("a.example");
  Server server({.serve = mirror, .context = context.get(), .protocol = {}});
  TlsProgram program(harness, server.port());
  EXPECT_FALSE(
      program.connected());  // it trusts the gate's authority alone, and meets the server's
}

// --- credentials
// -----------------------------------------------------------------------------------

LoadedCredential token_for(const std::string& host) {
  model::Credential source;
  source.name = "github";
  source.hosts = {host};
  source.ports = TextList{"*"};
  source.env = "TOKEN";
  return {.source = source, .secret = Secret(kToken), .key_id = {}};
}

TEST(HttpsCredentials, ThePlaceholderBecomesTheSecretAndTheEchoIsMasked) {
  Harness harness({allow_rule("a.example")}, {token_for("a.example")});
  auto context = harness.server_context("a.example");
  std::string received;
  Server server({.serve =
                     [&](Peer& peer) {
                       received = peer.read_until("\r\n\r\n");
                       const std::string echo = "you sent " + kToken + " " + base64_encode(kToken);
                       peer.write("HTTP/1.1 200 OK\r\nX-Echo: " + kToken + "\r\nContent-Length: " +
                                  std::to_string(echo.size()) + "\r\n\r\n" + echo);
                     },
                 .context = context.get(),
                 .protocol = "http/1.1"});
  TlsProgram program(harness, server.port());
  ASSERT_TRUE(program.connected());
  const std::string placeholder = harness.credential_set->environment()[0].second;
  program.write(get("/", "Authorization: token " + placeholder + "\r\nAccept-Encoding: gzip\r\n"));
  const std::string response = program.read_response();
  EXPECT_THAT(received, AllOf(HasSubstr("authorization: Bearer " + kToken),
                              HasSubstr("accept-encoding: identity")));
  EXPECT_THAT(response, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("you sent **")));
  EXPECT_THAT(response, Not(HasSubstr(kToken)));
  EXPECT_THAT(response, Not(HasSubstr(base64_encode(kToken).substr(0, 40))));
  EXPECT_EQ(harness.wait_event(0).credentials, std::vector<std::string>{"github"});
}

TEST(HttpsCredentials, APlaceholderInTheBodyIsStopped) {
  Harness harness({allow_rule("a.example")}, {token_for("a.example")});
  auto context = harness.server_context("a.example");
  std::string received;
  Server server({.serve = [&](Peer& peer) { received = peer.read_all(); },
                 .context = context.get(),
                 .protocol = {}});
  const std::string placeholder = harness.credential_set->environment()[0].second;
  {
    TlsProgram program(harness, server.port());
    ASSERT_TRUE(program.connected());
    const std::string body = R"({"t": ")" + placeholder + R"("})";
    program.write("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: " +
                  std::to_string(body.size()) + "\r\n\r\n");
    program.write(body.substr(0, 20));
    program.write(body.substr(20));
    EXPECT_THAT(program.read_response(),
                AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("placeholder of credential github")));
  }
  EXPECT_TRUE(harness.wait_until([&] { return !harness.endings.empty(); }));
  EXPECT_THAT(received, Not(HasSubstr(placeholder.substr(0, 10))));
}

TEST(HttpsCredentials, APlaceholderForAnotherHostIsStoppedInTheClear) {
  Harness harness({allow_rule("b.example")}, {token_for("a.example")});
  std::atomic<bool> reached{false};
  Server server({.serve = [&](Peer& peer) { reached = !peer.read_some().empty(); }});
  const std::string placeholder = harness.credential_set->environment()[0].second;
  for (const std::string& line :
       {"Authorization: Bearer " + placeholder,
        "Authorization: Basic " + base64_encode("u:" + placeholder), "X: " + placeholder}) {
    Peer program = harness.connect("b.example", server.port());
    program.write("GET / HTTP/1.1\r\nHost: b.example\r\n" + line + "\r\n\r\n");
    EXPECT_THAT(read_response(program), StartsWith("HTTP/1.1 403")) << line;
  }
  Peer raw = harness.connect("b.example", server.port());
  raw.write("HELO " + placeholder + "\r\n");
  EXPECT_EQ(raw.read_some(), "");
  EXPECT_FALSE(reached);
}

TEST(HttpsCredentials, NothingIsPutOnInTheClear) {
  Harness harness({allow_rule("a.example")}, {token_for("a.example")});
  Server server({.serve = mirror});
  Peer program = harness.connect("a.example", server.port());
  program.write(get("/"));
  EXPECT_THAT(read_response(program), AllOf(StartsWith("HTTP/1.1 200"), Not(HasSubstr(kToken))));
}

TEST(HttpsCredentials, ACompressedAnswerThatCannotBeMaskedIsKept) {
  Harness harness({allow_rule("a.example")}, {token_for("a.example")});
  auto context = harness.server_context("a.example");
  Server server(
      {.serve =
           [](Peer& peer) {
             peer.read_until("\r\n\r\n");
             peer.write(
                 "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nzzzz");
           },
       .context = context.get(),
       .protocol = {}});
  TlsProgram program(harness, server.port());
  ASSERT_TRUE(program.connected());
  program.write(get("/"));
  EXPECT_THAT(program.read_response(), StartsWith("HTTP/1.1 502"));
}

// --- git
// -------------------------------------------------------------------------------------------

// A pack of no objects.
const std::string kPack = std::string("PACK\0\0\0\2\0\0\0\0", 12) +
                          "\x02\x9d\x08\x82\x3b\xd8\xa8\xea\xb5\x10\xad\x6a\xc7\x5c\x82\x3c\xfd"
                          "\x3e\xd3\x1e";

class HttpGit : public ::testing::Test {
 protected:
  HttpGit() {
    rule_.protocol = model::EgressProtocol::git;
    rule_.git = {.repositories = {{"o/r"}}, .push = {"agent/*"}, .hold = {"*"}};
  }

  std::string push(const std::string& ref, const std::string& pack = kPack,
                   const std::string& capabilities = "report-status side-band-64k") {
    if (harness_ == nullptr) {
      harness_ = std::make_unique<Harness>(std::vector{rule_});
      context_ = harness_->server_context("a.example");
      server_ = std::make_unique<Server>(
          testing::ServerOptions{.serve = mirror, .context = context_.get(), .protocol = {}});
    }
    const std::string body = git::packet(std::string(40, '0') + " " + std::string(40, 'a') + " " +
                                         ref + std::string(1, '\0') + capabilities) +
                             "0000" + pack;
    TlsProgram program(*harness_, server_->port());
    EXPECT_TRUE(program.connected());
    program.write("POST /o/r.git/git-receive-pack HTTP/1.1\r\nHost: a.example\r\nContent-Length: " +
                  std::to_string(body.size()) + "\r\n\r\n" + body);
    return program.read_response();
  }
  std::vector<HeldPush> held() { return PushStore(harness_->dir.path() + "/pushes").all().value(); }

  model::EgressRule rule_ = allow_rule("a.example");
  std::unique_ptr<Harness> harness_;
  net::SslContextPtr context_;
  std::unique_ptr<Server> server_;
};

TEST_F(HttpGit, APushIsHeldToItsRefs) {
  EXPECT_THAT(push("refs/heads/agent/x"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("0000PACK")));
  // In git's own words, or as HTTP where the client wants no report.
  EXPECT_THAT(push("refs/tags/v1"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("x-paddock-denied: egress"),
                    HasSubstr("ng refs/tags/v1 no rule allows it")));
  EXPECT_THAT(push("refs/tags/v1", kPack, "quiet"), StartsWith("HTTP/1.1 403"));
  EXPECT_TRUE(held().empty());
}

TEST_F(HttpGit, WhatIsToBeReviewedIsRefusedAndKept) {
  const std::string answer = push("refs/heads/main");
  ASSERT_EQ(held().size(), 1u);
  const HeldPush kept = held()[0];
  EXPECT_THAT(answer, AllOf(HasSubstr("ng refs/heads/main a push to these refs is reviewed first"),
                            HasSubstr("held as " + kept.id.str())));
  EXPECT_EQ(kept.changes[0].ref, "refs/heads/main");
  EXPECT_EQ(kept.path, "/o/r.git");
  EXPECT_EQ(kept.host, "a.example");
  const EgressEvent event = harness_->wait_event(0);
  EXPECT_EQ(event.verdict, EgressVerdict::denied);
  EXPECT_EQ(event.remedy, "paddock pushes release " + kept.id.str());
  // The same again is not kept twice.
  EXPECT_THAT(push("refs/heads/main"), HasSubstr("held as " + kept.id.str()));
  EXPECT_EQ(held().size(), 1u);
}

TEST_F(HttpGit, APackThatIsNotWholeIsNotKept) {
  EXPECT_THAT(push("refs/heads/main", kPack.substr(0, 20)),
              AllOf(HasSubstr("ng refs/heads/main"), HasSubstr("could not be held")));
  EXPECT_TRUE(held().empty());
}

TEST_F(HttpGit, WithoutHoldItIsRefusedAlone) {
  rule_.git.hold.clear();
  EXPECT_THAT(push("refs/heads/main"), HasSubstr("ng refs/heads/main no rule allows it"));
  EXPECT_TRUE(held().empty());
}

}  // namespace
}  // namespace paddock::egress
