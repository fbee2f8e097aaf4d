#include "engine/egress_bridge.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "engine/testing/fake_gate.h"
#include "sys/pipe.h"
#include "wire/egress.h"

namespace paddock::engine {
namespace {

using testing::FakeGate;
using wire::ConnectAnswer;
using wire::ConnectQuery;

// The agent's side is a channel that the test drives; the bridge runs in the test's own thread.
class EgressBridgeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    pair_ = sys::make_socket_pair(SOCK_STREAM | SOCK_NONBLOCK).value();
    link_ = std::make_unique<AgentLink>(pair_.first);
    bridge_ = EgressBridge::make(gate_, model::SandboxId::from_entropy("12345678"), *link_).value();
  }

  // Moves what both sides have to say, until nothing moves any more.
  void settle() {
    for (int quiet = 0; quiet < 3;) {
      bridge_->on_ready();
      bool moved = bridge_->pump();
      moved |= move(link_->channel(), agent_);
      moved |= move(agent_, link_->channel());
      while (auto event = link_->channel().next_event()) to_bridge(std::move(*event));
      while (auto event = agent_.next_event()) {
        moved = true;
        seen_.push_back(std::move(*event));
      }
      quiet = moved ? 0 : quiet + 1;
    }
  }

  template <typename From, typename To>
  static bool move(From& from, To& to) {
    const std::string bytes(from.output());
    from.written(bytes.size());
    EXPECT_TRUE(to.receive(bytes).ok());
    return !bytes.empty();
  }

  void to_bridge(wire::HostChannel::Event event) {
    if (auto* message = std::get_if<wire::ToHost>(&event)) {
      if (message->has_name_query()) bridge_->take(message->name_query());
      if (message->has_connect_query()) bridge_->take(message->connect_query());
    }
    if (auto* data = std::get_if<wire::StreamData>(&event)) bridge_->take(std::move(*data));
    if (auto* end = std::get_if<wire::StreamEnd>(&event)) bridge_->take(*end);
    if (auto* reset = std::get_if<wire::StreamReset>(&event)) bridge_->take(*reset);
    if (auto* abort = std::get_if<wire::StreamAbort>(&event)) bridge_->take(*abort);
    if (auto* credit = std::get_if<wire::CreditGained>(&event)) bridge_->take(*credit);
  }

  ConnectAnswer ask(const ConnectQuery& query) {
    wire::ToHost message;
    *message.mutable_connect_query() = query;
    EXPECT_TRUE(agent_.send(message).ok());
    settle();
    return take_message().connect_answer();
  }

  wire::ToAgent take_message() {
    for (auto it = seen_.begin(); it != seen_.end(); ++it) {
      auto* message = std::get_if<wire::ToAgent>(&*it);
      if (message == nullptr) continue;
      wire::ToAgent out = std::move(*message);
      seen_.erase(it);
      return out;
    }
    return {};
  }

  static ConnectQuery query_for(uint32_t port) {
    ConnectQuery query;
    query.set_query(7);
    query.set_address(std::string("\xc6\x12\0\5", 4));
    query.set_port(port);
    query.mutable_asker()->set_pid(12);
    query.mutable_asker()->set_process("curl");
    return query;
  }

  // A connection that is open: its stream, and the gate's end.
  struct Open {
    wire::StreamId stream;
    egress::ConnectionRequest request;
  };
  Open open() {
    const wire::StreamId stream = ask(query_for(443)).stream();
    return {stream, gate_.next()};
  }

  std::string received(wire::StreamId stream) {
    std::string out;
    for (const auto& event : seen_) {
      auto* data = std::get_if<wire::StreamData>(&event);
      if (data != nullptr && data->stream == stream) out += data->bytes;
    }
    return out;
  }
  template <typename Kind>
  bool saw() const {
    return std::ranges::any_of(
        seen_, [](const auto& event) { return std::holds_alternative<Kind>(event); });
  }

  static std::string read_from(const sys::SocketFd& socket) {
    std::array<char, 1 << 16> buffer;
    const ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    return n > 0 ? std::string(buffer.data(), static_cast<size_t>(n)) : std::string();
  }
  static ssize_t write_to(const sys::SocketFd& socket, std::string_view bytes) {
    return ::send(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  FakeGate gate_;
  sys::SocketPair pair_;
  std::unique_ptr<AgentLink> link_;
  std::unique_ptr<EgressBridge> bridge_;
  wire::AgentChannel agent_;
  std::vector<wire::AgentChannel::Event> seen_;
};

TEST_F(EgressBridgeTest, NamesAreTheGatesWord) {
  for (const char* name : {"allowed.example", "denied.example"}) {
    wire::ToHost message;
    message.mutable_name_query()->set_query(3);
    message.mutable_name_query()->set_name(name);
    ASSERT_TRUE(agent_.send(message).ok());
  }
  settle();
  const wire::NameAnswer allowed = take_message().name_answer();
  EXPECT_EQ(allowed.query(), 3u);
  EXPECT_EQ(allowed.v4(), std::string("\xc6\x12\0\5", 4));
  EXPECT_EQ(allowed.v6().size(), 16u);
  const wire::NameAnswer denied = take_message().name_answer();
  EXPECT_TRUE(denied.v4().empty() && denied.v6().empty());
  EXPECT_EQ(denied.reason(), "no rule allows it");
}

TEST_F(EgressBridgeTest, NameOfAbsurdLengthNeverReachesTheGate) {
  wire::ToHost message;
  message.mutable_name_query()->set_name(std::string(wire::kMaxAskedName + 1, 'a'));
  ASSERT_TRUE(agent_.send(message).ok());
  settle();
  EXPECT_FALSE(take_message().name_answer().reason().empty());
  EXPECT_TRUE(gate_.names.empty());
}

TEST_F(EgressBridgeTest, ConnectionReachesTheGateWithItsDestinationAndAsker) {
  const Open open = this->open();
  EXPECT_GE(open.stream, EgressBridge::kFirstStream);
  EXPECT_EQ(std::get<model::IpAddress>(open.request.destination).str(), "198.18.0.5");
  EXPECT_EQ(open.request.port, 443);
  EXPECT_EQ(open.request.asker.pid, 12);
  EXPECT_EQ(open.request.asker.process, "curl");
}

TEST_F(EgressBridgeTest, NameGivenToTheProxyReachesTheGateAsItIs) {
  ConnectQuery query = query_for(443);
  query.set_name("Host.Example");
  EXPECT_NE(ask(query).stream(), 0u);
  EXPECT_EQ(std::get<std::string>(gate_.next().destination), "Host.Example");
}

TEST_F(EgressBridgeTest, RefusalOfTheGateIsTheAnswer) {
  const ConnectAnswer answer = ask(query_for(25));
  EXPECT_EQ(answer.query(), 7u);
  EXPECT_EQ(answer.stream(), 0u);
  EXPECT_EQ(answer.reason(), "no rule allows the port");
}

TEST_F(EgressBridgeTest, NonsenseIsRefusedWithoutTheGate) {
  ConnectQuery nowhere = query_for(443);
  nowhere.clear_destination();
  EXPECT_EQ(ask(nowhere).stream(), 0u);
  ConnectQuery odd = query_for(443);
  odd.set_address("12345");
  EXPECT_EQ(ask(odd).stream(), 0u);
  EXPECT_EQ(ask(query_for(0)).stream(), 0u);
  EXPECT_EQ(ask(query_for(443 + 65536)).stream(), 0u);
}

TEST_F(EgressBridgeTest, BytesAndEndsGoBothWays) {
  const Open open = this->open();
  agent_.send_data(open.stream, "question");
  agent_.end_stream(open.stream);
  settle();
  EXPECT_EQ(read_from(open.request.stream), "question");
  char byte;
  EXPECT_EQ(::recv(open.request.stream.get(), &byte, 1, MSG_DONTWAIT), 0) << "its end, too";
  EXPECT_EQ(write_to(open.request.stream, "answer"), 6);
  ASSERT_EQ(::shutdown(open.request.stream.get(), SHUT_WR), 0);
  settle();
  EXPECT_EQ(received(open.stream), "answer");
  EXPECT_TRUE(saw<wire::StreamEnd>());
  EXPECT_FALSE(bridge_->owns(open.stream));
}

TEST_F(EgressBridgeTest, GateThatReadsNothingHoldsUpTheAgentAndNoMemory) {
  const Open open = this->open();
  size_t sent = 0;
  for (int i = 0; i < 200; ++i) {
    const size_t now = agent_.sendable(open.stream);
    agent_.send_data(open.stream, std::string(now, 'x'));
    sent += now;
    settle();
  }
  EXPECT_EQ(agent_.sendable(open.stream), 0u);
  EXPECT_LT(sent, 1u << 20) << "a socket's buffer and one credit";
  size_t got = 0;
  while (got < sent) {
    got += read_from(open.request.stream).size();
    settle();
  }
  EXPECT_EQ(got, sent);
  EXPECT_GT(agent_.sendable(open.stream), 0u);
}

TEST_F(EgressBridgeTest, AgentThatReadsNothingHoldsUpTheGate) {
  const Open open = this->open();
  size_t sent = 0;
  for (int i = 0; i < 2000; ++i) {
    const ssize_t n = write_to(open.request.stream, std::string(4096, 'x'));
    if (n > 0) sent += static_cast<size_t>(n);
    settle();
  }
  EXPECT_EQ(received(open.stream).size(), size_t{wire::kConnectionCredit});
  EXPECT_LT(sent, 1u << 20);
}

TEST_F(EgressBridgeTest, ConnectionThatTheGateAbortsIsAbortedAfterWhatItWrote) {
  Open open = this->open();
  EXPECT_EQ(write_to(open.request.stream, "part"), 4);
  std::thread gate([&] {
    open.request.on_end(egress::Ending::aborted, "broke");
    open.request.stream.reset();
  });
  gate.join();
  settle();
  EXPECT_EQ(received(open.stream), "part");
  EXPECT_TRUE(saw<wire::StreamAbort>());
  EXPECT_FALSE(saw<wire::StreamEnd>());
  EXPECT_FALSE(bridge_->owns(open.stream));
}

TEST_F(EgressBridgeTest, AbortAfterAHalfCloseIsHeard) {
  Open open = this->open();
  ASSERT_EQ(::shutdown(open.request.stream.get(), SHUT_WR), 0);
  settle();
  EXPECT_TRUE(saw<wire::StreamEnd>());
  open.request.on_end(egress::Ending::aborted, "broke");
  open.request.stream.reset();
  settle();
  EXPECT_TRUE(saw<wire::StreamAbort>());
}

TEST_F(EgressBridgeTest, ConnectionThatTheGateClosesHasItsLastWordsHeard) {
  Open open = this->open();
  EXPECT_EQ(write_to(open.request.stream, "HTTP/1.1 403 "), 13);
  agent_.send_data(open.stream, "unread");
  settle();
  open.request.on_end(egress::Ending::closed, "");
  open.request.stream.reset();
  settle();
  EXPECT_EQ(received(open.stream), "HTTP/1.1 403 ");
  EXPECT_TRUE(saw<wire::StreamEnd>());
  EXPECT_FALSE(saw<wire::StreamAbort>());
}

TEST_F(EgressBridgeTest, ProgramThatBreaksOffIsSeenByTheGate) {
  const Open open = this->open();
  agent_.abort_stream(open.stream);
  settle();
  char byte;
  EXPECT_EQ(::recv(open.request.stream.get(), &byte, 1, MSG_DONTWAIT), 0);
  EXPECT_LT(write_to(open.request.stream, "x"), 0);
  EXPECT_FALSE(bridge_->owns(open.stream));
}

TEST_F(EgressBridgeTest, EndOfTheBridgeIsSeenByTheGateAndALateWordHurtsNobody) {
  Open open = this->open();
  bridge_.reset();
  char byte;
  EXPECT_EQ(::recv(open.request.stream.get(), &byte, 1, MSG_DONTWAIT), 0);
  open.request.on_end(egress::Ending::aborted, "late");
}

TEST_F(EgressBridgeTest, ConnectionsAreBounded) {
  std::vector<egress::ConnectionRequest> held;
  for (size_t i = 0; i < wire::kMaxConnections; ++i) {
    ASSERT_NE(ask(query_for(443)).stream(), 0u) << i;
    held.push_back(gate_.next());
  }
  EXPECT_EQ(ask(query_for(443)).stream(), 0u);
  held.clear();
  settle();
  EXPECT_TRUE(saw<wire::StreamEnd>());
}

}  // namespace
}  // namespace paddock::engine
