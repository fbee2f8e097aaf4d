#include "sys/descriptor_messages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/pipe.h"
#include "sys/testing/temp_dir.h"

namespace paddock::sys {
namespace {

class Records : public ::testing::Test {
 protected:
  void SetUp() override {
    listener_ = listen_for_records(dir_.path() + "/s", 0600).value();
    client_ = connect_for_records(dir_.path() + "/s").value();
    server_ = SocketFd(::accept(listener_.get(), nullptr, nullptr));
    ASSERT_TRUE(server_.is_open());
  }

  testing::TempDir dir_;
  SocketFd listener_;
  SocketFd client_;
  SocketFd server_;
};

TEST_F(Records, CarryDescriptorsThatAreClosedByExec) {
  auto pipe = make_pipe().value();
  const int fds[] = {pipe.write.get(), pipe.read.get()};
  ASSERT_TRUE(send_with_descriptors(client_, "two", fds).ok());
  auto record = receive_with_descriptors(server_, 16).value();
  EXPECT_EQ(record.bytes, "two");
  ASSERT_EQ(record.fds.size(), 2u);
  EXPECT_NE(::fcntl(record.fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
  ASSERT_TRUE(write_all(record.fds[0], "x").ok());
  char byte = 0;
  EXPECT_EQ(::read(pipe.read.get(), &byte, 1), 1);
}

TEST_F(Records, ThatAreTooLongAreRefusedAndTheirDescriptorsClosed) {
  auto pipe = make_pipe().value();
  const int fds[] = {pipe.write.get()};
  ASSERT_TRUE(send_with_descriptors(client_, "much too long", fds).ok());
  EXPECT_EQ(receive_with_descriptors(server_, 4).error().code(), Code::data_corrupt);
  pipe.write.reset();
  char byte = 0;
  EXPECT_EQ(::read(pipe.read.get(), &byte, 1), 0) << "somebody still holds the other end";
}

TEST_F(Records, EndWithTheOtherSide) {
  client_.reset();
  EXPECT_TRUE(receive_with_descriptors(server_, 16).value().bytes.empty());
}

TEST_F(Records, TellWhoIsThere) {
  EXPECT_EQ(peer_user(server_).value(), ::geteuid());
}

}  // namespace
}  // namespace paddock::sys
