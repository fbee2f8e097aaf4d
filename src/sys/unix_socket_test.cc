#include "sys/unix_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "sys/files.h"

namespace paddock::sys {
namespace {

class UnixSocket : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pd-unix-XXXXXX";
    base_ = ::mkdtemp(name);
    // Deeper than a socket's name may be long.
    path_ = base_ + "/" + std::string(200, 'd');
    ASSERT_TRUE(make_dirs(path_, 0700).ok());
    directory_ = open_dir(path_).value();
  }
  void TearDown() override { std::filesystem::remove_all(base_); }

  std::string base_;
  std::string path_;
  DirFd directory_;
};

TEST_F(UnixSocket, ListensWhereverTheDirectoryIs) {
  const auto listener = listen_unix(directory_, "agent.sock");
  ASSERT_TRUE(listener.ok()) << listener.error().describe();
  EXPECT_TRUE(connect_unix(directory_, "agent.sock").ok());
  struct stat info {};
  ASSERT_EQ(::stat((path_ + "/agent.sock").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(listen_unix(directory_, "agent.sock").error().code(), Code::already_exists);
}

TEST_F(UnixSocket, SaysWhetherNothingIsThereOrNobodyListens) {
  EXPECT_EQ(connect_unix(directory_, "none").error().code(), Code::not_found);
  listen_unix(directory_, "left").value().reset();
  EXPECT_EQ(connect_unix(directory_, "left").error().code(), Code::unavailable);
}

TEST_F(UnixSocket, ACrowdThatNobodyTakesIsRefusedAndNotWaitedFor) {
  const auto listener = listen_unix(directory_, "busy").value();
  std::vector<SocketFd> waiting;
  Result<SocketFd> next = connect_unix(directory_, "busy");
  while (next.ok() && waiting.size() < 100) {
    waiting.push_back(std::move(*next));
    next = connect_unix(directory_, "busy");
  }
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().code(), Code::unavailable);
}

TEST_F(UnixSocket, ASymlinkToASocketIsNotFollowed) {
  const auto listener = listen_unix(directory_, "s").value();
  ASSERT_EQ(::symlinkat("s", directory_.get(), "link"), 0);
  EXPECT_EQ(connect_unix(directory_, "link").error().code(), Code::failed_precondition);
  EXPECT_TRUE(connect_unix(directory_, "s").ok()) << "the socket itself would have answered";
}

TEST_F(UnixSocket, OtherFilesSayWhatTheyAre) {
  ASSERT_TRUE(replace_file(path_ + "/file", "", 0600).ok());
  EXPECT_EQ(connect_unix(directory_, "file").error().code(), Code::failed_precondition);
}

TEST_F(UnixSocket, KnowsWhoIsThere) {
  const auto listener = listen_unix(directory_, "s", {.mode = 0666, .backlog = 1}).value();
  const SocketFd client = connect_unix(directory_, "s").value();
  const SocketFd server(::accept(listener.get(), nullptr, nullptr));
  EXPECT_EQ(peer_credentials(server)->pid, ::getpid());
  EXPECT_EQ(peer_credentials(server)->uid, ::geteuid());
  EXPECT_EQ(lstat_at(directory_, "s").value().st_mode & 07777, 0666u);
}

}  // namespace
}  // namespace paddock::sys
