#include "agent/input_stream.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "sys/pipe.h"

namespace paddock::agent {
namespace {

constexpr wire::StreamId kInputId = 5;

class Input : public ::testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    ASSERT_TRUE(agent_.open_stream(kInputId).ok());
    sys::Pipe pipe = sys::make_pipe().value();
    ASSERT_TRUE(sys::set_nonblocking(pipe.write).ok());
    ASSERT_TRUE(sys::set_nonblocking(pipe.read).ok());
    read_ = std::move(pipe.read);
    input_.emplace(std::move(pipe.write), kInputId, InputStream::Kind::pipe);
  }

  std::string command_reads() {
    std::array<char, 100'000> buffer;
    const ssize_t n = ::read(read_.get(), buffer.data(), buffer.size());
    return n > 0 ? std::string(buffer.data(), static_cast<size_t>(n)) : std::string();
  }

  wire::AgentChannel agent_;
  sys::Fd read_;
  std::optional<InputStream> input_;
};

TEST_F(Input, ArrivesAndEnds) {
  input_->on_data("hello");
  input_->pump(agent_);
  EXPECT_EQ(command_reads(), "hello");
  input_->on_end();
  input_->pump(agent_);
  EXPECT_EQ(command_reads(), "") << "end of file";
}

TEST_F(Input, EndComesAfterWhatIsPending) {
  const std::string big(200'000, 'x');
  input_->on_data(big);
  input_->on_end();
  std::string got;
  for (int i = 0; i < 20 && got.size() < big.size(); ++i) {
    input_->on_writable();
    input_->pump(agent_);
    got += command_reads();
  }
  EXPECT_EQ(got, big);
  input_->on_writable();
  input_->pump(agent_);
  EXPECT_FALSE(input_->fd().is_open());
}

TEST_F(Input, IsAcknowledgedOnlyAsTheCommandTakesIt) {
  input_->on_data(std::string(wire::kInitialCredit, 'x'));
  input_->pump(agent_);
  EXPECT_LE(agent_.output().size(), 16u) << "one grant at most: a pipe holds 64 KiB";
  for (int i = 0; i < 8; ++i) {
    command_reads();
    input_->on_writable();
    input_->pump(agent_);
  }
  EXPECT_GE(agent_.output().size(), 3 * 16u);
}

TEST_F(Input, ThatNobodyReadsIsReset) {
  read_.reset();
  input_->on_data("hello");
  input_->pump(agent_);
  EXPECT_FALSE(input_->fd().is_open());
  EXPECT_FALSE(agent_.output().empty()) << "the host is told";
}

}  // namespace
}  // namespace paddock::agent
