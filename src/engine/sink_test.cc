#include "engine/sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

namespace paddock::engine {
namespace {

class SinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    read_ = sys::Fd(ends[0]);
    write_ = sys::Fd(ends[1]);
  }
  sys::Fd read_;
  sys::Fd write_;
};

TEST_F(SinkTest, AFullPipeDoesNotBlockAndKeepsTheRest) {
  Sink sink(write_.get());
  sink.add(std::string(1 << 20, 'x'));
  while (sink.write_some() > 0) {
  }
  EXPECT_TRUE(sink.wants_to_write());
  EXPECT_GT(sink.written(), 0u);
  EXPECT_EQ(::fcntl(write_.get(), F_GETFL) & O_NONBLOCK, 0)
      << "the caller's own file stays blocking";
  std::string got(1 << 20, '\0');
  uint64_t before = sink.written();
  ASSERT_GT(::read(read_.get(), got.data(), got.size()), 0);
  EXPECT_GT(sink.write_some(), 0u);
  EXPECT_GT(sink.written(), before);
}

TEST_F(SinkTest, AReaderThatLeftClosesIt) {
  Sink sink(write_.get());
  read_.reset();
  sink.add("x");
  EXPECT_EQ(sink.write_some(), 0u);
  EXPECT_TRUE(sink.closed());
  EXPECT_FALSE(sink.wants_to_write());
}

}  // namespace
}  // namespace paddock::engine
