#include "engine/live/port_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <future>

#include "engine/testing/scripted_agent.h"
#include "net/testing/on_loop.h"

namespace paddock::engine {
namespace {

using net::Task;
using net::testing::read_text;
using net::testing::run_on;
using testing::AgentSide;
using testing::ScriptedSandbox;

// The next Forward, with its request's number.
wire::ToAgent take_forward(AgentSide& agent) {
  while (auto event = agent.next()) {
    auto* message = std::get_if<wire::ToAgent>(&*event);
    if (message != nullptr && message->has_forward()) return *message;
  }
  return {};
}

void answer(AgentSide& agent, const wire::ToAgent& request, int error = 0) {
  wire::ToHost reply;
  reply.set_request(request.request());
  reply.mutable_done();
  if (error != 0) reply.mutable_failure()->set_error(error);
  EXPECT_TRUE(agent.channel().send(reply).ok());
  agent.flush();
}

class Ports : public ::testing::Test {
 protected:
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }

  void begin(testing::Script script) {
    isolated_ = std::make_unique<ScriptedSandbox>(std::move(script));
    sys::SocketFd waiting(::fcntl(isolated_->stream().get(), F_DUPFD_CLOEXEC, 3));
    session_ = std::make_shared<AgentSession>(
        loop_, std::make_unique<AgentLink>(isolated_->stream()), std::move(waiting),
        AgentSession::Listener{[](wire::ToHost) {}, [](const Error&) {}});
    run_on(loop_, [&](Task&) { session_->start(); });
  }
  void TearDown() override {
    run_on(loop_, [&](Task&) {
      session_->close();
      session_.reset();
    });
  }

  std::unique_ptr<ScriptedSandbox> isolated_;
  std::shared_ptr<AgentSession> session_;
  net::Loop loop_;
};

TEST_F(Ports, BytesGoBothWaysAndEachWayEndsByItself) {
  begin([](AgentSide& agent) {
    const wire::ToAgent request = take_forward(agent);
    EXPECT_EQ(request.forward().port(), 3000u);
    const wire::StreamId stream = request.forward().stream();
    answer(agent, request);
    std::string got;
    while (auto event = agent.next()) {
      if (auto* data = std::get_if<wire::StreamData>(&*event)) {
        agent.channel().consumed(stream, data->bytes.size());
        got += data->bytes;
      }
      if (std::holds_alternative<wire::StreamEnd>(*event)) break;
    }
    agent.send(stream, std::to_string(got.size()) + std::string(1 << 20, 'x'));
    agent.channel().end_stream(stream);
    agent.flush();
    while (agent.next()) {
    }
  });
  run_on(loop_, [&](Task& task) {
    auto port = PortStream::open(task, session_, 3000);
    ASSERT_TRUE(port.ok()) << port.error().describe();
    EXPECT_TRUE((*port)->write(task, std::string(300'000, 'y')).ok());
    EXPECT_TRUE((*port)->end_writing(task).ok());
    EXPECT_EQ(read_text(task, **port, 6), "300000");
    EXPECT_EQ(read_text(task, **port, 2 << 20).size(), 1u << 20);
  });
}

TEST_F(Ports, AClosedPortIsTold) {
  begin([](AgentSide& agent) {
    const wire::ToAgent request = take_forward(agent);
    answer(agent, request, ECONNREFUSED);
    agent.channel().abort_stream(request.forward().stream());
    while (agent.next()) {
    }
  });
  run_on(loop_, [&](Task& task) {
    auto port = PortStream::open(task, session_, 3000);
    ASSERT_FALSE(port.ok());
    EXPECT_EQ(port.error().errno_value(), ECONNREFUSED);
  });
}

TEST_F(Ports, WhatBreaksOffIsNoEnd) {
  begin([](AgentSide& agent) {
    const wire::ToAgent request = take_forward(agent);
    answer(agent, request);
    agent.send(request.forward().stream(), "part");
    agent.channel().abort_stream(request.forward().stream());
    agent.flush();
    while (agent.next()) {
    }
  });
  run_on(loop_, [&](Task& task) {
    auto port = PortStream::open(task, session_, 1);
    ASSERT_TRUE(port.ok());
    EXPECT_EQ(read_text(task, **port, 4), "part");
    char more[8];
    EXPECT_FALSE((*port)->read(task, more).ok());
    EXPECT_FALSE((*port)->write(task, "x").ok());
  });
}

TEST_F(Ports, TheEndOfTheSandboxEndsTheWait) {
  begin([](AgentSide& agent) { answer(agent, take_forward(agent)); });  // and is gone
  run_on(loop_, [&](Task& task) {
    auto port = PortStream::open(task, session_, 1);
    ASSERT_TRUE(port.ok());
    char byte[1];
    EXPECT_FALSE((*port)->read(task, byte).ok());
  });
}

TEST_F(Ports, WithoutABridgeWhatWantsToLeaveIsRefused) {
  std::promise<std::string> told;
  begin([&](AgentSide& agent) {
    wire::ToHost question;
    question.mutable_connect_query()->set_query(7);
    question.mutable_connect_query()->set_name("a.example");
    EXPECT_TRUE(agent.channel().send(question).ok());
    while (auto event = agent.next()) {
      auto* message = std::get_if<wire::ToAgent>(&*event);
      if (message == nullptr || !message->has_connect_answer()) continue;
      EXPECT_EQ(message->connect_answer().query(), 7u);
      EXPECT_EQ(message->connect_answer().stream(), 0u);
      return told.set_value(message->connect_answer().reason());
    }
  });
  EXPECT_EQ(told.get_future().get(), "nothing leaves this sandbox");
}

}  // namespace
}  // namespace paddock::engine
