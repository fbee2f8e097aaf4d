#include "engine/relay.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "engine/outcome_of.h"
#include "engine/testing/scripted_agent.h"
#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

using testing::AgentSide;
using testing::Script;
using testing::ScriptedSandbox;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    read = sys::Fd(ends[0]);
    write = sys::Fd(ends[1]);
  }
  sys::Fd read;
  sys::Fd write;
};

class RelayTest : public ::testing::Test {
 protected:
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }

  Result<RelayResult> run(Script script, RelayOptions options = {}) {
    sandbox_ = std::make_unique<ScriptedSandbox>(std::move(script));
    AgentLink link(sandbox_->stream());
    options.stdio.input = input_.read.get();
    options.stdio.output = output_.write.get();
    options.stdio.error = error_.write.get();
    Relay relay(*sandbox_, link, denials_, std::move(options));
    auto result = relay.run(wire::Start());
    output_.write.reset();
    return result;
  }

  std::string output() { return sys::read_all(output_.read).value(); }

  Pipe input_, output_, error_;
  Denials denials_;
  std::unique_ptr<ScriptedSandbox> sandbox_;
};

TEST_F(RelayTest, CarriesOutputAndTheExitStatus) {
  auto result = run([](AgentSide& agent) {
    wire::Start start = agent.take_start();
    agent.send(start.stdout_stream(), "hello");
    agent.end(start.command(), wire::Ended::EXITED, 7);
  });
  ASSERT_TRUE(result.ok()) << result.error().describe();
  EXPECT_EQ(result->ended->code(), 7);
  EXPECT_EQ(result->stdout_bytes, 5u);
  EXPECT_EQ(output(), "hello");
}

TEST_F(RelayTest, ALargeOutputOfASlowReaderIsComplete) {
  constexpr size_t kSize = 4u << 20;
  std::string got;
  std::thread reader([&] {
    std::array<char, 16384> buffer;
    ssize_t n;
    while ((n = ::read(output_.read.get(), buffer.data(), buffer.size())) > 0) {
      got.append(buffer.data(), static_cast<size_t>(n));
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  auto result = run([](AgentSide& agent) {
    wire::Start start = agent.take_start();
    agent.send(start.stdout_stream(), std::string(kSize, 'x'));
    agent.end(start.command(), wire::Ended::EXITED, 0);
  });
  reader.join();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(got.size(), kSize);
}

TEST_F(RelayTest, InputArrivesWithItsEnd) {
  ASSERT_TRUE(sys::write_all(input_.write, "typed").ok());
  input_.write.reset();
  auto result = run([](AgentSide& agent) {
    wire::Start start = agent.take_start();
    std::string got;
    while (auto event = agent.next()) {
      if (auto* data = std::get_if<wire::StreamData>(&*event)) got += data->bytes;
      if (std::holds_alternative<wire::StreamEnd>(*event)) break;
    }
    agent.send(start.stdout_stream(), got);
    agent.end(start.command(), wire::Ended::EXITED, 0);
  });
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(output(), "typed");
}

TEST_F(RelayTest, AnOpenInputDoesNotHoldTheEnd) {
  auto result = run(
      [](AgentSide& agent) { agent.end(agent.take_start().command(), wire::Ended::EXITED, 0); });
  EXPECT_TRUE(result->ended.has_value());
}

TEST_F(RelayTest, AReaderThatLeavesResetsTheStream) {
  output_.read.reset();
  auto result = run([](AgentSide& agent) {
    wire::Start start = agent.take_start();
    bool reset = !agent.send(start.stdout_stream(), std::string(4u << 20, 'x'));
    agent.end(start.command(), wire::Ended::SIGNALLED, reset ? SIGPIPE : 0);
  });
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->ended->code(), SIGPIPE);
}

TEST_F(RelayTest, ASandboxThatVanishesIsNeverASuccess) {
  auto result = run([](AgentSide& agent) {
    wire::Start start = agent.take_start();
    agent.send(start.stdout_stream(), "partial");
  });
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->ended.has_value());
  EXPECT_EQ(output(), "partial");
  model::Outcome outcome = outcome_of(*result, *sandbox_, {}, 1);
  EXPECT_EQ(outcome.ending, model::Ending::killed);
  EXPECT_EQ(model::exit_status(outcome), 137);
  sandbox_->oom = true;
  EXPECT_EQ(outcome_of(*result, *sandbox_, {}, 1).ending, model::Ending::oom_killed);
}

TEST_F(RelayTest, AnAgentThatIgnoresItsTimerIsEnded) {
  RelayOptions options;
  options.timeout_ms = 1;
  auto result = run(
      [](AgentSide& agent) {
        agent.take_start();
        while (agent.next()) {
        }
      },
      std::move(options));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->timed_out);
  EXPECT_TRUE(sandbox_->destroyed);
  EXPECT_EQ(outcome_of(*result, *sandbox_, {}, 1).ending, model::Ending::timed_out);
}

TEST_F(RelayTest, AWatchThatObjectsEndsTheSandboxAsAViolation) {
  RelayOptions options;
  options.watch = [] { return std::optional<std::string>("too much (limits.disk)"); };
  auto result = run(
      [](AgentSide& agent) {
        agent.take_start();
        while (agent.next()) {
        }
      },
      std::move(options));
  EXPECT_EQ(outcome_of(*result, *sandbox_, {}, 1).ending, model::Ending::violated);
}

TEST_F(RelayTest, ASignalReachesTheCommandAndASecondOneEndsIt) {
  auto result = run([](AgentSide& agent) {
    agent.take_start();
    ::kill(::getpid(), SIGTERM);
    int forwarded = 0;
    while (auto event = agent.next()) {
      auto* message = std::get_if<wire::ToAgent>(&*event);
      if (message == nullptr || !message->has_signal()) continue;
      forwarded = message->signal().number();
      if (forwarded == SIGTERM) ::kill(::getpid(), SIGTERM);
    }
    EXPECT_EQ(forwarded, SIGTERM);
  });
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->killed_because, "signal 15 to paddock");
  EXPECT_EQ(model::exit_status(outcome_of(*result, *sandbox_, {}, 1)), 128 + SIGTERM);
  EXPECT_TRUE(sandbox_->destroyed);
}

// Of a signal, say, to a command that has just ended.
TEST_F(RelayTest, WhatFailsAfterTheStartIsNoFailureOfTheStart) {
  auto result = run([](AgentSide& agent) {
    const wire::Start start = agent.take_start();
    wire::ToHost failure;
    failure.mutable_failure()->set_message("no such process");
    ASSERT_TRUE(agent.channel().send(failure).ok());
    agent.end(start.command(), wire::Ended::EXITED, 3);
  });
  ASSERT_TRUE(result.ok()) << result.error().describe();
  EXPECT_EQ(result->ended->code(), 3);
}

TEST_F(RelayTest, AProtocolViolationIsAnErrorAndNoOutcome) {
  auto result = run([](AgentSide& agent) {
    wire::Start start = agent.take_start();
    wire::AgentChannel forged;
    ASSERT_TRUE(forged.open_stream(99).ok());
    forged.send_data(99, "x");
    agent.inject(forged.output());
    while (agent.next()) {
    }
  });
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Code::data_corrupt);
}

TEST_F(RelayTest, DenialsAreGathered) {
  auto result = run([](AgentSide& agent) {
    wire::Start start = agent.take_start();
    wire::ToHost message;
    message.mutable_denied()->set_kind(wire::Denied::NAME);
    message.mutable_denied()->set_what("example.com");
    ASSERT_TRUE(agent.channel().send(message).ok());
    agent.end(start.command(), wire::Ended::EXITED, 0);
  });
  ASSERT_TRUE(result.ok());
  auto records = denials_.take_records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].what, "example.com");
}

}  // namespace
}  // namespace paddock::engine
