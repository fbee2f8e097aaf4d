#include "wire/channel.h"

#include <gtest/gtest.h>

#include "wire/testing/frames.h"

namespace paddock::wire {
namespace {

using testing::control;
using testing::frame;
using testing::u32;

ToHost hello() {
  ToHost message;
  message.mutable_hello()->set_protocol(kProtocolVersion);
  message.mutable_hello()->set_build_id("build");
  return message;
}

ToAgent start(StreamId out) {
  ToAgent message;
  message.set_request(1);
  message.mutable_start()->set_command(1);
  message.mutable_start()->set_stdout_stream(out);
  return message;
}

// Moves everything that `from` has to send into `to`.
template <typename From, typename To>
void carry(From& from, To& to) {
  const std::string bytes(from.output());
  from.written(bytes.size());
  ASSERT_TRUE(to.receive(bytes).ok());
}

template <typename Kind, typename C>
std::optional<Kind> next(C& channel) {
  auto event = channel.next_event();
  if (!event || !std::holds_alternative<Kind>(*event)) return std::nullopt;
  return std::get<Kind>(*event);
}

void expect_violation(HostChannel& host, std::string_view bytes) {
  Status status = host.receive(bytes);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), Code::data_corrupt);
  EXPECT_FALSE(host.receive(control(hello())).ok()) << "a dead channel takes nothing";
}

class OneStream : public ::testing::Test {
 protected:
  static constexpr StreamId kId = 3;

  void SetUp() override {
    ASSERT_TRUE(host_.open_stream(kId).ok());
    ASSERT_TRUE(agent_.open_stream(kId).ok());
  }

  std::string read_all_on_host() {
    std::string out;
    while (auto event = host_.next_event()) {
      if (auto* data = std::get_if<StreamData>(&*event)) out += data->bytes;
    }
    return out;
  }

  HostChannel host_;
  AgentChannel agent_;
};

TEST(Channel, CarriesMessagesBothWays) {
  HostChannel host;
  AgentChannel agent;
  ASSERT_TRUE(agent.send(hello()).ok());
  carry(agent, host);
  EXPECT_EQ(next<ToHost>(host)->hello().build_id(), "build");
  ASSERT_TRUE(host.send(start(3)).ok());
  carry(host, agent);
  EXPECT_EQ(next<ToAgent>(agent)->start().stdout_stream(), 3u);
  EXPECT_TRUE(agent.output().empty());
}

TEST(Channel, StreamsOfAStartAreOpenForTheFramesRightBehindIt) {
  HostChannel host;
  AgentChannel agent;
  ASSERT_TRUE(host.open_stream(3).ok());
  ToAgent message = start(3);
  message.mutable_start()->set_stderr_stream(3);  // both outputs on one stream
  ASSERT_TRUE(host.send(message).ok());
  host.send_data(3, "at once");
  host.end_stream(3);
  carry(host, agent);
  EXPECT_TRUE(next<ToAgent>(agent).has_value());
  EXPECT_EQ(next<StreamData>(agent)->bytes, "at once");
  EXPECT_TRUE(next<StreamEnd>(agent).has_value());
  EXPECT_EQ(agent.sendable(3), kInitialCredit);
}

TEST(Channel, StartOnAStreamInUseIsAViolation) {
  AgentChannel agent;
  ASSERT_TRUE(agent.receive(control(start(3))).ok());
  EXPECT_FALSE(agent.receive(control(start(3))).ok());
}

TEST_F(OneStream, ComesThroughWhereverTheBytesAreSplit) {
  ASSERT_TRUE(agent_.send(hello()).ok());
  agent_.send_data(kId, "caf\xc3\xa9\xe2\x98\x95");
  agent_.end_stream(kId);
  const std::string bytes(agent_.output());
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    HostChannel host;
    ASSERT_TRUE(host.open_stream(kId).ok());
    ASSERT_TRUE(host.receive(std::string_view(bytes).substr(0, cut)).ok());
    ASSERT_TRUE(host.receive(std::string_view(bytes).substr(cut)).ok());
    EXPECT_TRUE(next<ToHost>(host).has_value());
    EXPECT_EQ(next<StreamData>(host)->bytes, "caf\xc3\xa9\xe2\x98\x95");
    EXPECT_EQ(next<StreamEnd>(host)->stream, kId);
    EXPECT_FALSE(host.next_event().has_value());
  }
}

TEST_F(OneStream, ComesThroughByteForByte) {
  ASSERT_TRUE(agent_.send(hello()).ok());
  agent_.send_data(kId, std::string(1000, 'x'));
  for (char c : std::string(agent_.output())) ASSERT_TRUE(host_.receive({&c, 1}).ok());
  EXPECT_TRUE(next<ToHost>(host_).has_value());
  EXPECT_EQ(next<StreamData>(host_)->bytes, std::string(1000, 'x'));
}

TEST_F(OneStream, StopsAtItsCreditAndGoesOnWhenTheReaderHasRead) {
  EXPECT_EQ(agent_.sendable(kId), kInitialCredit);
  agent_.send_data(kId, std::string(kInitialCredit, 'x'));
  EXPECT_EQ(agent_.sendable(kId), 0u);
  carry(agent_, host_);
  EXPECT_TRUE(host_.output().empty()) << "nothing is granted before it is read";
  host_.consumed(kId, read_all_on_host().size());
  carry(host_, agent_);
  EXPECT_EQ(next<CreditGained>(agent_)->stream, kId);
  EXPECT_EQ(agent_.sendable(kId), kInitialCredit);
}

TEST_F(OneStream, ReaderOfSmallPiecesNeverLeavesTheWriterWaiting) {
  size_t sent = 0;
  size_t read = 0;
  while (sent < 3 * kInitialCredit) {
    ASSERT_GT(agent_.sendable(kId), 0u) << "after " << sent;
    agent_.send_data(kId, "1234567");
    sent += 7;
    carry(agent_, host_);
    const size_t got = read_all_on_host().size();
    for (size_t i = 0; i < got; ++i) host_.consumed(kId, 1);
    read += got;
    carry(host_, agent_);
  }
  EXPECT_EQ(read, sent);
}

TEST_F(OneStream, DoesNotHoldUpAnother) {
  ASSERT_TRUE(host_.open_stream(4).ok());
  ASSERT_TRUE(agent_.open_stream(4).ok());
  agent_.send_data(kId, std::string(kInitialCredit, 'x'));
  EXPECT_EQ(agent_.sendable(4), kInitialCredit);
  agent_.send_data(4, "quick");
  carry(agent_, host_);
  EXPECT_EQ(next<StreamData>(host_)->stream, kId);
  EXPECT_EQ(next<StreamData>(host_)->bytes, "quick");
}

TEST_F(OneStream, HalfCloseLeavesTheOtherDirectionOpen) {
  host_.end_stream(kId);
  carry(host_, agent_);
  EXPECT_TRUE(next<StreamEnd>(agent_).has_value());
  agent_.send_data(kId, "still here");
  carry(agent_, host_);
  EXPECT_EQ(next<StreamData>(host_)->bytes, "still here");
}

TEST_F(OneStream, ResetStopsTheWriterAndEndsItsDirection) {
  host_.reset_stream(kId);
  agent_.send_data(kId, "on its way already");
  carry(agent_, host_);
  EXPECT_FALSE(host_.next_event().has_value()) << "what still comes is dropped";
  carry(host_, agent_);
  EXPECT_TRUE(next<StreamReset>(agent_).has_value());
  EXPECT_EQ(agent_.sendable(kId), 0u);
  carry(agent_, host_);
  EXPECT_FALSE(host_.next_event().has_value());
}

TEST_F(OneStream, AbortEndsBothDirectionsAndIsNoOrdinaryEnd) {
  agent_.send_data(kId, "part");
  agent_.abort_stream(kId);
  EXPECT_FALSE(agent_.is_open(kId));
  carry(agent_, host_);
  EXPECT_EQ(next<StreamData>(host_)->bytes, "part");
  EXPECT_TRUE(next<StreamAbort>(host_).has_value());
  EXPECT_EQ(host_.sendable(kId), 0u);
  host_.close_stream(kId);
  carry(host_, agent_);
  EXPECT_FALSE(agent_.next_event().has_value());
  EXPECT_TRUE(host_.open_stream(kId).ok()) << "both sides are done with it";
  EXPECT_TRUE(agent_.open_stream(kId).ok());
}

TEST_F(OneStream, AbortAfterTheEndIsStillHeard) {
  agent_.end_stream(kId);
  agent_.abort_stream(kId);
  carry(agent_, host_);
  EXPECT_TRUE(next<StreamEnd>(host_).has_value());
  EXPECT_TRUE(next<StreamAbort>(host_).has_value());
  EXPECT_FALSE(host_.next_event().has_value());
}

TEST_F(OneStream, AbortsThatCrossLeaveNothingBehind) {
  agent_.abort_stream(kId);
  host_.send_data(kId, "on its way");
  host_.abort_stream(kId);
  carry(agent_, host_);
  carry(host_, agent_);
  EXPECT_FALSE(host_.next_event().has_value());
  EXPECT_FALSE(agent_.next_event().has_value());
  EXPECT_TRUE(host_.open_stream(kId).ok());
  EXPECT_TRUE(agent_.open_stream(kId).ok());
}

TEST_F(OneStream, AbortIsHeardOnce) {
  const std::string twice = frame(FrameType::abort, kId, "") + frame(FrameType::abort, kId, "");
  ASSERT_TRUE(host_.receive(twice).ok());
  EXPECT_TRUE(next<StreamAbort>(host_).has_value());
  EXPECT_FALSE(host_.next_event().has_value());
  expect_violation(host_, frame(FrameType::data, kId, "x"));
}

TEST(Channel, StreamOfAConnectionHasACreditOfItsOwn) {
  HostChannel host;
  AgentChannel agent;
  ASSERT_TRUE(host.open_stream(9, kConnectionCredit).ok());
  ToAgent answer;
  answer.set_request(1);
  answer.mutable_connect_answer()->set_stream(9);
  ASSERT_TRUE(host.send(answer).ok());
  carry(host, agent);
  ASSERT_TRUE(agent.is_open(9));
  EXPECT_EQ(agent.sendable(9), size_t{kConnectionCredit});
  agent.send_data(9, std::string(kConnectionCredit, 'x'));
  carry(agent, host);
  EXPECT_EQ(next<StreamData>(host)->bytes.size(), size_t{kConnectionCredit});
  host.consumed(9, kConnectionCredit);
  carry(host, agent);
  EXPECT_EQ(agent.sendable(9), size_t{kConnectionCredit});
  expect_violation(host, frame(FrameType::data, 9, std::string(kConnectionCredit + 1, 'x')));
}

TEST_F(OneStream, IdIsFreeAgainWhenBothSidesHaveClosed) {
  agent_.send_data(kId, "late");
  host_.send_data(kId, "late");
  host_.close_stream(kId);
  agent_.close_stream(kId);
  EXPECT_FALSE(host_.is_open(kId));
  EXPECT_FALSE(host_.open_stream(kId).ok()) << "the other side's end is still to come";
  carry(host_, agent_);
  carry(agent_, host_);
  EXPECT_FALSE(host_.next_event().has_value());
  EXPECT_TRUE(host_.open_stream(kId).ok());
  EXPECT_TRUE(agent_.open_stream(kId).ok());
}

TEST_F(OneStream, GrantAndResetThatCrossACloseAreDropped) {
  const std::string late = frame(FrameType::credit, kId, u32(5)) + frame(FrameType::reset, kId, "");
  agent_.close_stream(kId);
  carry(agent_, host_);
  host_.close_stream(kId);
  carry(host_, agent_);
  EXPECT_TRUE(host_.receive(late).ok());
  EXPECT_TRUE(agent_.receive(late).ok());
}

TEST_F(OneStream, InUseIsNotOpenedTwice) {
  EXPECT_EQ(host_.open_stream(kId).error().code(), Code::invalid_argument);
  EXPECT_EQ(host_.open_stream(0).error().code(), Code::invalid_argument);
}

TEST_F(OneStream, DataBeyondCreditIsAViolation) {
  ASSERT_TRUE(host_.receive(frame(FrameType::data, kId, std::string(kInitialCredit, 'x'))).ok());
  expect_violation(host_, frame(FrameType::data, kId, "x"));
}

TEST_F(OneStream, ResetGrantsNoMoreThanWasGranted) {
  host_.reset_stream(kId);
  ASSERT_TRUE(host_.receive(frame(FrameType::data, kId, std::string(kInitialCredit, 'x'))).ok());
  expect_violation(host_, frame(FrameType::data, kId, "x"));
}

TEST_F(OneStream, DataAfterTheEndIsAViolation) {
  ASSERT_TRUE(host_.receive(frame(FrameType::end, kId, "")).ok());
  expect_violation(host_, frame(FrameType::data, kId, "x"));
}

TEST_F(OneStream, SecondEndIsAViolation) {
  ASSERT_TRUE(host_.receive(frame(FrameType::end, kId, "")).ok());
  expect_violation(host_, frame(FrameType::end, kId, ""));
}

TEST_F(OneStream, CreditForBytesThatWereNeverSentIsAViolation) {
  host_.send_data(kId, "1234");
  expect_violation(host_, frame(FrameType::credit, kId, u32(5)));
}

TEST_F(OneStream, CreditForNothingIsAViolation) {
  host_.send_data(kId, "1234");
  expect_violation(host_, frame(FrameType::credit, kId, u32(0)));
}

TEST(Channel, StreamsThatAreNotOpenAreAViolation) {
  for (FrameType type : {FrameType::data, FrameType::end}) {
    HostChannel host;
    expect_violation(host, frame(type, 9, type == FrameType::data ? "x" : ""));
  }
}

TEST(Channel, ControlThatIsNoMessageIsAViolation) {
  HostChannel host;
  expect_violation(host, frame(FrameType::control, 0, "\xff\xff\xff"));
}

TEST(Channel, MessageWithoutABodyIsAViolation) {
  HostChannel host;
  ToHost message;
  message.set_request(4);
  expect_violation(host, control(message));
}

TEST(Channel, TextThatIsNotUtf8IsAViolation) {
  std::string bytes = control(hello());
  bytes.replace(bytes.find("build"), 5, "\xc3(abc");
  HostChannel host;
  expect_violation(host, bytes);
}

TEST(Channel, DeepNestingIsAViolation) {
  std::string payload;  // an unknown group in a group, ten thousand deep
  for (int i = 0; i < 10000; ++i) payload += "\xfb\x01";
  HostChannel host;
  expect_violation(host, frame(FrameType::control, 0, payload));
}

TEST(Channel, EventsBeforeAViolationAreStillThere) {
  HostChannel host;
  ASSERT_FALSE(host.receive(control(hello()) + std::string(8, '\xff')).ok());
  EXPECT_TRUE(next<ToHost>(host).has_value());
}

TEST(Channel, MessageThatTheOtherSideWouldRefuseIsNotSent) {
  AgentChannel agent;
  ToHost message = hello();
  message.mutable_hello()->set_build_id(std::string(kMaxControlToHost, 'x'));
  EXPECT_EQ(agent.send(message).error().code(), Code::invalid_argument);
  EXPECT_TRUE(agent.output().empty());
}

TEST(Channel, LargeEnvironmentReachesTheAgentInSmallPieces) {
  HostChannel host;
  AgentChannel agent;
  ToAgent message = start(0);
  for (int i = 0; i < 64; ++i) {
    message.mutable_start()->add_environment("K=" + std::string(100000, 'v'));
  }
  ASSERT_TRUE(host.send(message).ok());
  while (!host.output().empty()) {
    const std::string piece(host.output().substr(0, 65536));
    ASSERT_TRUE(agent.receive(piece).ok());
    host.written(piece.size());
  }
  EXPECT_EQ(next<ToAgent>(agent)->start().environment_size(), 64);
}

TEST(ChannelDeathTest, SendingBeyondCreditIsOurOwnBug) {
  HostChannel host;
  ASSERT_TRUE(host.open_stream(1).ok());
  EXPECT_DEATH(host.send_data(1, std::string(kInitialCredit + 1, 'x')), "");
}

}  // namespace
}  // namespace paddock::wire
