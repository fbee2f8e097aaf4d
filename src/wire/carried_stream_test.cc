#include "wire/carried_stream.h"

#include <gtest/gtest.h>

namespace paddock::wire {
namespace {

// Two ends of one connection; the sockets are strings.
class CarriedStreams : public ::testing::Test {
 protected:
  static constexpr StreamId kId = 5;

  void SetUp() override {
    ASSERT_TRUE(host_channel_.open_stream(kId, kConnectionCredit).ok());
    ASSERT_TRUE(agent_channel_.open_stream(kId, kConnectionCredit).ok());
    host_.emplace(host_channel_, kId);
    agent_.emplace(agent_channel_, kId);
  }

  template <typename From, typename To, typename End>
  static void carry(From& from, To& to, End& end) {
    const std::string bytes(from.output());
    from.written(bytes.size());
    ASSERT_TRUE(to.receive(bytes).ok());
    while (auto event = to.next_event()) {
      if (auto* data = std::get_if<StreamData>(&*event)) end->on_data(data->bytes);
      if (std::holds_alternative<StreamEnd>(*event)) end->on_end();
      if (std::holds_alternative<StreamReset>(*event)) end->on_reset();
      if (std::holds_alternative<StreamAbort>(*event)) end.reset();
    }
  }
  void to_host() { carry(agent_channel_, host_channel_, host_); }
  void to_agent() { carry(host_channel_, agent_channel_, agent_); }

  HostChannel host_channel_;
  AgentChannel agent_channel_;
  std::optional<CarriedStream<HostChannel>> host_;
  std::optional<CarriedStream<AgentChannel>> agent_;
};

TEST_F(CarriedStreams, BytesArriveInOrderAndAreKeptUntilTheSocketTakesThem) {
  agent_->read("one ");
  agent_->read("two");
  to_host();
  EXPECT_EQ(host_->unwritten(), "one two");
  host_->wrote(4);
  EXPECT_EQ(host_->unwritten(), "two");
}

TEST_F(CarriedStreams, ASocketThatTakesNothingStopsTheOtherEndAtItsCredit) {
  agent_->read(std::string(kConnectionCredit, 'x'));
  EXPECT_EQ(agent_->readable(1000), 0u);
  to_host();
  to_agent();
  EXPECT_EQ(agent_->readable(1000), 0u);
  host_->wrote(kConnectionCredit);
  to_agent();
  EXPECT_EQ(agent_->readable(1000), 1000u);
}

TEST_F(CarriedStreams, EachDirectionEndsByItself) {
  agent_->read("question");
  agent_->read_end();
  to_host();
  EXPECT_FALSE(host_->is_end_due()) << "there is still something to write";
  host_->wrote(8);
  EXPECT_TRUE(host_->is_end_due());
  host_->wrote_end();
  EXPECT_FALSE(host_->is_over());
  host_->read("answer");
  host_->read_end();
  EXPECT_TRUE(host_->is_over());
  to_agent();
  EXPECT_EQ(agent_->unwritten(), "answer");
}

TEST_F(CarriedStreams, WhatNobodyTakesIsReadAndDropped) {
  host_->write_failed();
  to_agent();
  agent_->read(std::string(kConnectionCredit * 2, 'x'));  // beyond any credit
  EXPECT_EQ(agent_->readable(10), 10u);
  to_host();
  EXPECT_TRUE(host_->unwritten().empty());
  EXPECT_FALSE(host_->is_over()) << "it may still have something to say";
  host_->read("last words");
  to_agent();
  EXPECT_EQ(agent_->unwritten(), "last words");
}

TEST_F(CarriedStreams, OneThatGoesBeforeItIsOverIsAborted) {
  agent_.reset();
  to_host();
  EXPECT_FALSE(host_.has_value());
}

TEST_F(CarriedStreams, OneThatIsOverIsClosedAndItsNumberFree) {
  agent_->read_end();
  to_host();
  host_->wrote_end();
  host_->read_end();
  host_.reset();
  to_agent();
  EXPECT_TRUE(agent_->is_end_due());
  agent_->wrote_end();
  agent_.reset();
  to_host();
  EXPECT_TRUE(host_channel_.open_stream(kId).ok());
  EXPECT_TRUE(agent_channel_.open_stream(kId).ok());
}

}  // namespace
}  // namespace paddock::wire
