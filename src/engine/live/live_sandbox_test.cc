#include "engine/live/live_sandbox.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <future>

#include "engine/testing/scripted_agent.h"
#include "net/testing/on_loop.h"
#include "sys/clock.h"

namespace paddock::engine {
namespace {

using namespace std::chrono_literals;
using net::Task;
using net::testing::run_on;
using testing::AgentSide;
using testing::ScriptedSandbox;

// The next message of the host's; what comes for streams meanwhile is dropped.
std::optional<wire::ToAgent> next_message(AgentSide& agent) {
  while (auto event = agent.next()) {
    if (auto* message = std::get_if<wire::ToAgent>(&*event)) return *message;
  }
  return std::nullopt;
}

wire::Start take_start(AgentSide& agent) {
  auto message = next_message(agent);
  if (!message || !message->has_start()) return {};
  wire::ToHost started;
  started.set_request(message->request());
  started.mutable_started()->set_command(message->start().command());
  started.mutable_started()->set_pid(static_cast<int>(100 + message->start().command()));
  EXPECT_TRUE(agent.channel().send(started).ok());
  agent.flush();
  return message->start();
}

void end(AgentSide& agent, const wire::Start& start, int code) {
  for (auto stream : {start.stdin_stream(), start.stdout_stream(), start.stderr_stream()}) {
    agent.channel().close_stream(stream);
  }
  wire::ToHost message;
  message.mutable_ended()->set_command(start.command());
  message.mutable_ended()->set_code(code);
  EXPECT_TRUE(agent.channel().send(message).ok());
  agent.flush();
}

class Live : public ::testing::Test {
 protected:
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }

  void on_loop(std::function<void(Task&)> body) { run_on(loop_, std::move(body)); }

  void begin(testing::Script script, int64_t lives_ms = 60'000) {
    auto isolated = std::make_unique<ScriptedSandbox>(std::move(script));
    isolated_ = isolated.get();
    auto link = std::make_unique<AgentLink>(isolated->stream());
    sys::SocketFd waiting(::fcntl(isolated->stream().get(), F_DUPFD_CLOEXEC, 3));
    LiveInfo info;
    info.deadline_ms = sys::wall_clock_ms() + lives_ms;
    LiveSetup setup;
    setup.stopped_by = stopped_by_;
    setup.environment = {{"A", "sandbox"}, {"B", "sandbox"}};
    sandbox_ = std::make_shared<LiveSandbox>(
        loop_, std::move(info), std::move(setup),
        LiveParts{nullptr, std::move(isolated), std::move(link), std::move(waiting), worker_},
        [this](LiveSandbox&, std::string reason) { ended_.set_value(std::move(reason)); });
    on_loop([&](Task&) { sandbox_->begin(); });
  }

  LiveSandbox::Started start(Task& task, ProcessRequest request = {}) {
    request.argv = {"command"};
    return sandbox_->start(task, std::move(request)).value();
  }

  // Everything until the end; the exit code behind it.
  static std::string read_all(Task& task, Process::Reader& reader) {
    std::string text;
    while (true) {
      auto output = reader.next(task, 10s);
      if (!output.ok()) return text + "<" + output.error().message() + ">";
      if (!*output) return text + "<nothing>";
      if (auto* data = std::get_if<OutputData>(&**output)) {
        text += data->bytes;
      } else {
        return text + "<" + std::to_string(std::get<OutputEnd>(**output).ended.code()) + ">";
      }
    }
  }

  void TearDown() override {
    on_loop([&](Task& task) {
      EXPECT_TRUE(sandbox_->kill(task, "the test is over").ok());
      sandbox_.reset();
    });
  }

  // Answers `count` requests with Done; what they were.
  static std::vector<wire::ToAgent> answer(AgentSide& agent, int count) {
    std::vector<wire::ToAgent> seen;
    for (int i = 0; i < count; ++i) {
      auto message = next_message(agent);
      if (!message) break;
      wire::ToHost done;
      done.set_request(message->request());
      done.mutable_done();
      EXPECT_TRUE(agent.channel().send(done).ok());
      agent.flush();
      seen.push_back(std::move(*message));
    }
    return seen;
  }

  LiveSetup::StoppedBy stopped_by_ = LiveSetup::StoppedBy::isolation;
  ScriptedSandbox* isolated_ = nullptr;
  net::Worker worker_;
  std::promise<std::string> ended_;
  std::shared_ptr<LiveSandbox> sandbox_;
  net::Loop loop_;
};

TEST_F(Live, ACommandGetsTheSandboxesEnvironmentUnderItsOwn) {
  std::promise<std::string> seen;
  begin([&](AgentSide& agent) {
    wire::Start start = take_start(agent);
    std::string all;
    for (const auto& variable : start.environment()) all += variable + " ";
    seen.set_value(all);
    agent.send(start.stdout_stream(), "out");
    end(agent, start, 3);
    next_message(agent);
  });
  on_loop([&](Task& task) {
    ProcessRequest request;
    request.environment = {{"B", "mine"}};
    auto started = start(task, std::move(request));
    EXPECT_EQ(started.process->pid(), 101);
    EXPECT_EQ(read_all(task, *started.reader), "out<3>");
  });
  EXPECT_EQ(seen.get_future().get(), "A=sandbox B=mine ");
}

TEST_F(Live, AReaderThatStopsHoldsItsOwnCommandAndNoOther) {
  begin([](AgentSide& agent) {
    wire::Start slow = take_start(agent);
    wire::Start quick = take_start(agent);
    // More than the credit: the rest would have to wait for the slow reader.
    while (agent.channel().sendable(slow.stdout_stream()) > 0) {
      const size_t room = agent.channel().sendable(slow.stdout_stream());
      agent.channel().send_data(slow.stdout_stream(),
                                std::string(std::min<size_t>(room, 32768), 's'));
    }
    agent.send(quick.stdout_stream(), std::string(3 << 20, 'q'));
    end(agent, quick, 0);
    agent.send(slow.stdout_stream(), "rest");  // waits for credit
    end(agent, slow, 0);
    next_message(agent);
  });
  on_loop([&](Task& task) {
    auto slow = start(task);
    auto quick = start(task);
    EXPECT_EQ(read_all(task, *quick.reader).size(), (3u << 20) + 3);
    const std::string text = read_all(task, *slow.reader);
    EXPECT_TRUE(text.ends_with("srest<0>"));
  });
}

TEST_F(Live, WithoutReadersOutputIsDroppedAndTheEndIsKept) {
  begin([](AgentSide& agent) {
    wire::Start start = take_start(agent);
    agent.send(start.stdout_stream(), std::string(2 << 20, 'x'));
    end(agent, start, 9);
    next_message(agent);
  });
  on_loop([&](Task& task) {
    auto started = start(task);
    started.reader.reset();
    while (!started.process->has_ended()) task.sleep(1ms);
    auto late = sandbox_->find_process(started.process->pid());
    ASSERT_TRUE(late);
    Process::Reader reader(late);
    EXPECT_EQ(read_all(task, reader), "<9>");
  });
}

TEST_F(Live, EveryReaderSeesTheSame) {
  begin([](AgentSide& agent) {
    wire::Start start = take_start(agent);
    next_message(agent);  // a signal, once both read
    agent.send(start.stdout_stream(), "same");
    end(agent, start, 0);
    next_message(agent);
  });
  on_loop([&](Task& task) {
    auto started = start(task);
    Process::Reader second(started.process);
    loop_.spawn([process = started.process](Task& other) { (void)process->signal(other, 1).ok(); });
    EXPECT_EQ(read_all(task, *started.reader), "same<0>");
    EXPECT_EQ(read_all(task, second), "same<0>");
  });
}

TEST_F(Live, InputWaitsForTheCommandAndEnds) {
  std::promise<size_t> got;
  begin([&](AgentSide& agent) {
    wire::Start start = take_start(agent);
    size_t total = 0;
    while (auto event = agent.next()) {
      if (auto* data = std::get_if<wire::StreamData>(&*event)) {
        total += data->bytes.size();
        agent.channel().consumed(data->stream, data->bytes.size());
      }
      if (std::holds_alternative<wire::StreamEnd>(*event)) break;
    }
    got.set_value(total);
    end(agent, start, 0);
    next_message(agent);
  });
  on_loop([&](Task& task) {
    ProcessRequest request;
    request.input = ProcessRequest::Input::open;
    auto started = start(task, std::move(request));
    EXPECT_TRUE(started.process->send_input(task, std::string(1 << 20, 'i'), 10s).ok());
    started.process->close_input();
    EXPECT_FALSE(started.process->send_input(task, "more", 10s).ok());
    EXPECT_EQ(read_all(task, *started.reader), "<0>");
  });
  EXPECT_EQ(got.get_future().get(), 1u << 20);
}

TEST_F(Live, WhenTheAgentIsGoneEveryoneIsTold) {
  begin([](AgentSide& agent) { take_start(agent); });
  on_loop([&](Task& task) {
    auto started = start(task);
    EXPECT_EQ(read_all(task, *started.reader), "<the sandbox is gone>");
    EXPECT_FALSE(started.process->signal(task, 9).ok());
  });
  EXPECT_NE(ended_.get_future().get().find("ended by itself"), std::string::npos);
}

TEST_F(Live, AnAgentThatBreaksTheProtocolEndsIt) {
  begin([](AgentSide& agent) {
    agent.inject(std::string(64, '\xff'));
    next_message(agent);
  });
  EXPECT_NE(ended_.get_future().get().find("ended by itself"), std::string::npos);
}

TEST_F(Live, ItsTimeRunsOut) {
  begin([](AgentSide& agent) { next_message(agent); }, 50);
  EXPECT_EQ(ended_.get_future().get(), "its time was up");
}

TEST_F(Live, AStartThatFailsLeavesNoProcess) {
  begin([](AgentSide& agent) {
    auto message = next_message(agent);
    wire::ToHost failure;
    failure.set_request(message->request());
    failure.mutable_failure()->set_message("entering the command's directory");
    failure.mutable_failure()->set_error(ENOENT);
    EXPECT_TRUE(agent.channel().send(failure).ok());
    agent.flush();
    next_message(agent);
  });
  on_loop([&](Task& task) {
    auto started = sandbox_->start(task, {.argv = {"x"}});
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().code(), Code::not_found);
    EXPECT_TRUE(sandbox_->processes().empty());
  });
}

TEST_F(Live, APausedOneStandsStillWithoutADeadlineAndGoesOnWithOne) {
  std::promise<std::vector<wire::ToAgent>> seen;
  begin([&](AgentSide& agent) {
    seen.set_value(answer(agent, 2));
    next_message(agent);
  });
  on_loop([&](Task& task) {
    ASSERT_TRUE(sandbox_->pause(task).ok());
    EXPECT_EQ(sandbox_->info().state, SandboxState::paused);
    EXPECT_TRUE(isolated_->frozen);
    EXPECT_FALSE(sandbox_->start(task, {.argv = {"x"}}).ok());
    EXPECT_EQ(sandbox_->pause(task).error().code(), Code::failed_precondition);
    const int64_t deadline = sys::wall_clock_ms() + 20'000;
    ASSERT_TRUE(sandbox_->resume(task, deadline).ok());
    EXPECT_TRUE(sandbox_->is_running());
    EXPECT_FALSE(isolated_->frozen);
    EXPECT_EQ(sandbox_->info().deadline_ms, deadline);
  });
  const auto messages = seen.get_future().get();
  EXPECT_EQ(messages.at(0).deadline().deadline_ms(), 0u);
  EXPECT_GT(messages.at(1).deadline().deadline_ms(), 20'000u);
}

TEST_F(Live, WithoutAFreezerTheAgentStopsAndContinuesThem) {
  stopped_by_ = LiveSetup::StoppedBy::agent;
  std::promise<std::vector<wire::ToAgent>> seen;
  begin([&](AgentSide& agent) {
    seen.set_value(answer(agent, 4));
    next_message(agent);
  });
  on_loop([&](Task& task) {
    ASSERT_TRUE(sandbox_->pause(task).ok());
    ASSERT_TRUE(sandbox_->resume(task, sys::wall_clock_ms() + 20'000).ok());
    EXPECT_FALSE(isolated_->frozen);
  });
  const auto messages = seen.get_future().get();
  EXPECT_EQ(messages.at(1).hold().what(), wire::Hold::STOP);
  EXPECT_EQ(messages.at(2).hold().what(), wire::Hold::GO_ON);
}

TEST_F(Live, APauseThatFailsLeavesItRunningWithItsDeadline) {
  std::promise<std::vector<wire::ToAgent>> seen;
  begin([&](AgentSide& agent) {
    seen.set_value(answer(agent, 2));
    next_message(agent);
  });
  isolated_->freezing = Error(Code::timed_out, "they do not stop");
  on_loop([&](Task& task) {
    EXPECT_EQ(sandbox_->pause(task).error().code(), Code::timed_out);
    EXPECT_TRUE(sandbox_->is_running());
  });
  EXPECT_GT(seen.get_future().get().at(1).deadline().deadline_ms(), 0u);
}

TEST_F(Live, APausedOneOutlivesItsDeadline) {
  begin(
      [](AgentSide& agent) {
        answer(agent, 1);
        next_message(agent);
      },
      300);
  on_loop([&](Task& task) {
    ASSERT_TRUE(sandbox_->pause(task).ok());
    task.sleep(500ms);
    EXPECT_EQ(sandbox_->info().state, SandboxState::paused);
  });
}

}  // namespace
}  // namespace paddock::engine
