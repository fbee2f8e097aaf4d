// Sockets of the host through the bridge: the agent's side is a channel that the test drives.
#include "engine/host_sockets.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <map>

#include "engine/egress_bridge.h"
#include "engine/testing/fake_gate.h"
#include "sys/clock.h"
#include "sys/pipe.h"
#include "sys/testing/temp_dir.h"
#include "sys/unix_socket.h"
#include "wire/egress.h"

namespace paddock::engine {
namespace {

class HostSocketsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = sys::open_dir(temp_.path()).value();
    listen();
    std::vector<PlannedSocket> planned;
    planned.push_back({model::HostPath(temp_.path() + "/s"), sys::open_dir(temp_.path()).value(),
                       "s", ::geteuid(), model::GuestPath("/run/s")});
    const auto id = model::SandboxId::from_entropy("12345678");
    sockets_.emplace(id, std::move(planned),
                     [this](model::EgressEvent event) { events_.push_back(std::move(event)); });
    pair_ = sys::make_socket_pair(SOCK_STREAM | SOCK_NONBLOCK).value();
    link_ = std::make_unique<AgentLink>(pair_.first);
    bridge_ = EgressBridge::make(gate_, id, *link_, &*sockets_).value();
  }

  void listen() { listener_ = sys::listen_unix(dir_, "s").value(); }
  void stop_listening() {
    listener_.reset();
    ASSERT_EQ(::unlinkat(dir_.get(), "s", 0), 0);
  }
  sys::SocketFd accept() {
    sys::SocketFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_TRUE(socket.is_open());
    return socket;
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
        to_agent(*event);
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
    if (auto* message = std::get_if<wire::ToHost>(&event)) bridge_->take(message->connect_query());
    if (auto* data = std::get_if<wire::StreamData>(&event)) bridge_->take(std::move(*data));
    if (auto* end = std::get_if<wire::StreamEnd>(&event)) bridge_->take(*end);
    if (auto* reset = std::get_if<wire::StreamReset>(&event)) bridge_->take(*reset);
    if (auto* abort = std::get_if<wire::StreamAbort>(&event)) bridge_->take(*abort);
    if (auto* credit = std::get_if<wire::CreditGained>(&event)) bridge_->take(*credit);
  }
  void to_agent(const wire::AgentChannel::Event& event) {
    if (const auto* message = std::get_if<wire::ToAgent>(&event)) {
      answers_[message->connect_answer().query()] = message->connect_answer();
    } else if (const auto* data = std::get_if<wire::StreamData>(&event)) {
      got_[data->stream] += data->bytes;
    } else if (const auto* end = std::get_if<wire::StreamEnd>(&event)) {
      ends_[end->stream] = "end";
    } else if (const auto* abort = std::get_if<wire::StreamAbort>(&event)) {
      ends_[abort->stream] = "abort";
    }
  }

  uint32_t ask(uint32_t socket = 0) {
    wire::ToHost message;
    wire::ConnectQuery& query = *message.mutable_connect_query();
    query.set_query(++queries_);
    query.set_socket(socket);
    query.mutable_asker()->set_pid(12);
    query.mutable_asker()->set_process("docker");
    EXPECT_TRUE(agent_.send(message).ok());
    settle();
    return queries_;
  }
  wire::StreamId open() { return answers_[ask()].stream(); }

  static std::string read_all(const sys::SocketFd& socket) {
    std::string all;
    std::array<char, 1 << 16> buffer;
    ssize_t n;
    while ((n = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0)
      all.append(buffer.data(), static_cast<size_t>(n));
    return all;
  }

  sys::testing::TempDir temp_;
  sys::DirFd dir_;
  sys::SocketFd listener_;
  std::vector<model::EgressEvent> events_;
  std::optional<HostSockets> sockets_;
  testing::FakeGate gate_;
  sys::SocketPair pair_;
  std::unique_ptr<AgentLink> link_;
  std::unique_ptr<EgressBridge> bridge_;
  wire::AgentChannel agent_;
  uint32_t queries_ = 0;
  std::map<uint32_t, wire::ConnectAnswer> answers_;
  std::map<wire::StreamId, std::string> got_;
  std::map<wire::StreamId, std::string> ends_;
};

TEST_F(HostSocketsTest, BytesGoBothWaysAndEachWayEndsByItself) {
  const wire::StreamId stream = open();
  const sys::SocketFd server = accept();
  agent_.send_data(stream, "question");
  agent_.end_stream(stream);
  settle();
  EXPECT_EQ(read_all(server), "question");
  char byte;
  EXPECT_EQ(::recv(server.get(), &byte, 1, MSG_DONTWAIT), 0) << "the program's end is seen";
  ASSERT_EQ(::send(server.get(), "answer", 6, 0), 6);
  settle();
  EXPECT_EQ(got_[stream], "answer") << "and the other way is still open";
  EXPECT_TRUE(events_.empty());
  ::shutdown(server.get(), SHUT_RDWR);
  settle();
  EXPECT_EQ(ends_[stream], "end");
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].kind, model::EgressEventKind::socket);
  EXPECT_EQ(events_[0].verdict, model::EgressVerdict::allowed);
  EXPECT_EQ(events_[0].host, temp_.path() + "/s");
  EXPECT_EQ(events_[0].request_bytes, 8u);
  EXPECT_EQ(events_[0].response_bytes, 6u);
  EXPECT_EQ(events_[0].process, "docker");
}

TEST_F(HostSocketsTest, AServiceThatIsGoneIsRefusedAndRecordedAndMayComeBack) {
  stop_listening();
  EXPECT_EQ(answers_[ask()].stream(), 0u);
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].verdict, model::EgressVerdict::failed);
  EXPECT_NE(events_[0].reason.find("No such file"), std::string::npos) << events_[0].reason;
  listen();
  EXPECT_NE(open(), 0u);
}

TEST_F(HostSocketsTest, ANameThatBecameALinkIsNotFollowed) {
  const auto other = sys::listen_unix(dir_, "other").value();
  stop_listening();
  ASSERT_EQ(::symlinkat("other", dir_.get(), "s"), 0);
  EXPECT_EQ(answers_[ask()].stream(), 0u);
  EXPECT_TRUE(sys::connect_unix(dir_, "other").ok()) << "it would have led there";
}

TEST_F(HostSocketsTest, NobodyElseTakesTheServicesPlace) {
  const auto connect_if_of = [this](uid_t owner) {
    std::vector<PlannedSocket> planned;
    planned.push_back({model::HostPath(temp_.path() + "/s"), sys::open_dir(temp_.path()).value(),
                       "s", owner, model::GuestPath("/run/s")});
    const auto id = model::SandboxId::from_entropy("12345678");
    return HostSockets(id, std::move(planned), {}).connect(0);
  };
  EXPECT_TRUE(connect_if_of(::geteuid()).ok());
  EXPECT_EQ(connect_if_of(::geteuid() + 1).error().code(), Code::permission_denied);
}

TEST_F(HostSocketsTest, ASocketThatWasNotGivenIsDenied) {
  EXPECT_EQ(answers_[ask(1)].stream(), 0u);
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].verdict, model::EgressVerdict::denied);
}

TEST_F(HostSocketsTest, AServiceThatBreaksOffIsAResetInside) {
  const wire::StreamId stream = open();
  {
    const sys::SocketFd server = accept();
    agent_.send_data(stream, "unread");
    settle();
  }
  settle();
  EXPECT_EQ(ends_[stream], "abort");
}

TEST_F(HostSocketsTest, AFullQueueIsWaitedFor) {
  ASSERT_EQ(::listen(listener_.get(), 0), 0);
  std::vector<sys::SocketFd> served;
  for (int i = 0; i < 4; ++i) ask();
  EXPECT_EQ(answers_.size(), 1u) << "the others wait, as they would in connect(2)";
  const int64_t until = sys::monotonic_us() + 20'000'000;
  while (answers_.size() < 4 && sys::monotonic_us() < until) {
    served.push_back(accept());
    pollfd ready{bridge_->fd(), POLLIN, 0};
    (void)::poll(&ready, 1, 1000);
    settle();
  }
  ASSERT_EQ(answers_.size(), 4u);
  for (const auto& [query, answer] : answers_) EXPECT_NE(answer.stream(), 0u) << query;
}

TEST_F(HostSocketsTest, ASlowReaderHoldsUpNobodyElse) {
  const wire::StreamId slow = open();
  const sys::SocketFd slow_server = accept();
  const wire::StreamId quick = open();
  const sys::SocketFd quick_server = accept();
  const std::string much(1 << 16, 'x');
  size_t sent = 0;
  ssize_t n;
  do {  // nobody inside reads: what comes is held by the credit
    n = ::send(slow_server.get(), much.data(), much.size(), MSG_DONTWAIT);
    if (n > 0) sent += static_cast<size_t>(n);
    settle();
  } while (n > 0);
  EXPECT_LT(sent, 4u << 20);
  ASSERT_EQ(::send(quick_server.get(), "pong", 4, 0), 4);
  settle();
  EXPECT_EQ(got_[quick], "pong");
  agent_.consumed(slow, got_[slow].size());
  settle();
  EXPECT_GT(got_[slow].size(), wire::kConnectionCredit) << "and goes on when it reads";
}

TEST_F(HostSocketsTest, TheEndOfTheBridgeIsOnRecordAndSeenByTheService) {
  open();
  const sys::SocketFd server = accept();
  bridge_.reset();
  EXPECT_EQ(events_.size(), 1u);
  char byte;
  EXPECT_EQ(::recv(server.get(), &byte, 1, 0), 0);
}

}  // namespace
}  // namespace paddock::engine
