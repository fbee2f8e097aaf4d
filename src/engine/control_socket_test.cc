#include "engine/control_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>

#include "sys/clock.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"
#include "sys/unix_socket.h"

namespace paddock::engine {
namespace {

TEST(ChangeRequest, ReadsBackWhatWasWritten) {
  const ChangeRequest request{ChangeVerb::allow, "a.example:8443"};
  auto read = parse_change_request(encode(request));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->verb, ChangeVerb::allow);
  EXPECT_EQ(read->host, "a.example:8443");
  EXPECT_EQ(parse_answer(encode_answer(std::string("done"))).value(), "done");
  const auto error = parse_answer(
      encode_answer(Error(Code::permission_denied, "no").set_remedy("ask the administrator")));
  EXPECT_EQ(error.error().code(), Code::permission_denied);
  EXPECT_EQ(error.error().message(), "no");
  EXPECT_EQ(error.error().remedy(), "ask the administrator");
}

TEST(ChangeRequest, WhatIsReadSaysNothingToATerminal) {
  EXPECT_EQ(parse_answer(R"({"done":"a\u001b[2Jb"})").value(), "a\\x1b[2Jb");
  const auto error = parse_answer(R"({"error":"not_found","message":"\u0007","remedy":"\n"})");
  EXPECT_EQ(error.error().message(), "\\x07");
  EXPECT_EQ(error.error().remedy(), "\\x0a");
}

TEST(ChangeRequest, RefusesWhatIsNone) {
  for (const char* line : {"", "{", "[]", "{}", R"({"verb":"allow"})", R"({"verb":1,"host":"a"})",
                           R"({"verb":"grant","host":"a"})", R"({"verb":"deny","host":[]})"}) {
    EXPECT_EQ(parse_change_request(line).error().code(), Code::data_corrupt) << line;
  }
  const std::string host(kMaxChangeBytes, 'a');
  EXPECT_FALSE(parse_change_request(encode({ChangeVerb::allow, host})).ok());
}

class ControlSocketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    socket_ = ControlSocket::open(directory_, [this](const ChangeRequest& request) {
                ++asked_;
                if (request.verb == ChangeVerb::deny)
                  return Result<std::string>(Error(Code::not_found, "no such host"));
                return Result<std::string>(request.host + " is allowed");
              }).value();
  }
  sys::SocketFd connect() {
    return sys::connect_unix(sys::open_dir(temp_.path()).value(), "control").value();
  }

  sys::testing::TempDir temp_;
  model::HostPath directory_{temp_.path()};
  std::atomic<int> asked_ = 0;
  std::unique_ptr<ControlSocket> socket_;
};

TEST_F(ControlSocketTest, AnswersInOrderWhoeverAsks) {
  EXPECT_EQ(ask_control(directory_, {ChangeVerb::allow, "a.example"}).value(),
            "a.example is allowed");
  EXPECT_EQ(ask_control(directory_, {ChangeVerb::deny, "b.example"}).error().code(),
            Code::not_found);
  EXPECT_EQ(asked_, 2);
}

TEST_F(ControlSocketTest, IsItsOwnersAlone) {
  EXPECT_EQ(sys::lstat_path((directory_ / "control").str())->st_mode & 07777, 0600u);
}

TEST_F(ControlSocketTest, WhoSaysTooMuchOrNothingIsDroppedAndHoldsUpNobody) {
  const sys::SocketFd much = connect();
  const std::string text(kMaxChangeBytes + 600, 'x');
  (void)::send(much.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  const sys::SocketFd nothing = connect();
  EXPECT_TRUE(ask_control(directory_, {ChangeVerb::allow, "a.example"}).ok());
  EXPECT_EQ(asked_, 1);
}

TEST_F(ControlSocketTest, NobodyIsThereAfterwards) {
  socket_.reset();
  EXPECT_EQ(ask_control(directory_, {ChangeVerb::allow, "a.example"}).error().errno_value(),
            ECONNREFUSED);
}

}  // namespace
}  // namespace paddock::engine
