#include "agent/output_stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/pipe.h"

namespace paddock::agent {
namespace {

constexpr wire::StreamId kOutputId = 5;
constexpr size_t kRoom = 1u << 20;

// A pipe of a command, with the host at the other end of the channel.
class OutputOfACommand : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(agent_.open_stream(kOutputId).ok());
    ASSERT_TRUE(host_.open_stream(kOutputId).ok());
    sys::Pipe pipe = sys::make_pipe().value();
    ASSERT_TRUE(sys::set_nonblocking(pipe.read).ok());
    ASSERT_TRUE(sys::set_nonblocking(pipe.write).ok());
    write_ = std::move(pipe.write);
    output_.emplace(std::move(pipe.read), kOutputId);
  }

  void command_writes(std::string_view bytes) {
    ASSERT_EQ(::write(write_.get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
    output_->on_readable();
  }

  void pump() {
    while (output_->pump(agent_, budget_, kRoom)) {
    }
  }

  // What the host has received since the last time; ended_ when the stream is over.
  std::string received() {
    const std::string bytes(agent_.output());
    agent_.written(bytes.size());
    EXPECT_TRUE(host_.receive(bytes).ok());
    std::string out;
    while (auto event = host_.next_event()) {
      if (auto* data = std::get_if<wire::StreamData>(&*event)) out += data->bytes;
      ended_ |= std::holds_alternative<wire::StreamEnd>(*event);
    }
    return out;
  }

  wire::AgentChannel agent_;
  wire::HostChannel host_;
  sys::Fd write_;
  std::optional<OutputStream> output_;
  OutputBudget budget_;
  bool ended_ = false;
};

TEST_F(OutputOfACommand, EndsWhenItsWritersAreGone) {
  command_writes("hello");
  pump();
  EXPECT_EQ(received(), "hello");
  EXPECT_FALSE(ended_);
  write_.reset();
  output_->on_readable();
  pump();
  received();
  EXPECT_TRUE(ended_);
  EXPECT_FALSE(output_->fd().is_open());
}

TEST_F(OutputOfACommand, StopsReadingAtTheHostsCredit) {
  size_t total = 0;
  for (int i = 0; i < 5; ++i) {
    command_writes(std::string(60'000, 'x'));
    pump();
    total += received().size();
  }
  EXPECT_EQ(total, size_t{wire::kInitialCredit});
  EXPECT_LT(::write(write_.get(), std::string(65536, 'x').data(), 65536), 65536) << "it is full";
}

TEST_F(OutputOfACommand, StopsReadingWhenTheChannelHasNoRoom) {
  command_writes("hello");
  EXPECT_FALSE(output_->pump(agent_, budget_, 0));
  EXPECT_EQ(received(), "");
  pump();
  EXPECT_EQ(received(), "hello");
}

TEST_F(OutputOfACommand, FinishTakesWhatIsThereThoughAWriterLives) {
  command_writes("rest");
  output_->finish(OutputStream::AfterEnd::close);
  command_writes("too late");
  pump();
  EXPECT_EQ(received(), "rest");
  EXPECT_TRUE(ended_);
  EXPECT_FALSE(output_->fd().is_open());
}

TEST_F(OutputOfACommand, FinishOfAnEmptyPipeEndsAtOnce) {
  output_->finish(OutputStream::AfterEnd::close);
  pump();
  received();
  EXPECT_TRUE(ended_);
}

TEST_F(OutputOfACommand, FinishWaitsForCredit) {
  for (int i = 0; i < 4; ++i) {
    command_writes(std::string(60'000, 'x'));
    pump();
  }
  command_writes(std::string(60'000, 'y'));
  output_->finish(OutputStream::AfterEnd::close);
  pump();
  const size_t first = received().size();
  EXPECT_FALSE(ended_);
  host_.consumed(kOutputId, first);
  ASSERT_TRUE(agent_.receive(host_.output()).ok());
  pump();
  EXPECT_EQ(first + received().size(), 300'000u);
  EXPECT_TRUE(ended_);
}

TEST_F(OutputOfACommand, KeptWriterGoesOnUnheard) {
  command_writes("heard");
  output_->finish(OutputStream::AfterEnd::drop);
  pump();
  EXPECT_EQ(received(), "heard");
  EXPECT_TRUE(ended_);
  for (int i = 0; i < 10; ++i) {
    command_writes(std::string(60'000, 'x'));
    pump();
  }
  EXPECT_EQ(received(), "");
}

TEST_F(OutputOfACommand, MutedWriterGoesOnWithoutCredit) {
  output_->mute();
  for (int i = 0; i < 10; ++i) {
    command_writes(std::string(60'000, 'x'));
    pump();
  }
  EXPECT_TRUE(agent_.output().empty());
}

TEST_F(OutputOfACommand, BeyondTheLimitIsDroppedAndSaid) {
  budget_.left = 7;
  command_writes("12345");
  pump();
  EXPECT_FALSE(budget_.exceeded);
  command_writes("6789");
  pump();
  EXPECT_TRUE(budget_.exceeded);
  EXPECT_EQ(received(), "1234567");
}

TEST_F(OutputOfACommand, ThatTheHostAbandonsIsClosed) {
  output_->abandon(agent_);
  received();
  EXPECT_TRUE(ended_);
  EXPECT_FALSE(output_->fd().is_open());
}

}  // namespace
}  // namespace paddock::agent
