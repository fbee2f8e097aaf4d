#include "engine/sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "sys/files.h"
#include "sys/pipe.h"
#include "sys/testing/temp_dir.h"

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

TEST_F(SinkTest, AFullSocketDoesNotBlockAndKeepsTheRest) {
  sys::SocketPair pair = sys::make_socket_pair(SOCK_STREAM).value();
  Sink sink(pair.first.get());
  std::string all;
  for (int i = 0; i < 1 << 18; ++i) all += std::to_string(i);
  sink.add(all);
  std::string got;
  std::array<char, 4096> buffer;
  while (got.size() < all.size()) {
    while (sink.write_some() > 0) {
    }
    const ssize_t n = ::read(pair.second.get(), buffer.data(), buffer.size());
    ASSERT_GT(n, 0);
    got.append(buffer.data(), static_cast<size_t>(n));
  }
  EXPECT_EQ(got, all);
  EXPECT_EQ(::fcntl(pair.first.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(SinkTest, AFileTakesAllOfItBehindWhatIsThere) {
  sys::testing::TempDir dir;
  const std::string path = dir.path() + "/out";
  sys::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(file.get(), "before ", 7), 7);
  Sink sink(file.get());
  sink.add("one ");
  EXPECT_EQ(sink.write_some(), 4u);
  sink.add(std::string(1 << 20, 'x'));
  EXPECT_EQ(sink.write_some(), size_t{1} << 20);
  EXPECT_EQ(sys::read_file(path).value(), "before one " + std::string(1 << 20, 'x'));
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
