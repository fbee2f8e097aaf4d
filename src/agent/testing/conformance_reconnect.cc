#include "agent/testing/conformance_reconnect.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

#include "wire/build_id.h"

namespace paddock::agent::testing {

using wire::Ended;
using wire::testing::AgentClient;
using wire::testing::shell;
using wire::testing::start_of;

namespace {

wire::Start kept(wire::Start start, uint64_t bytes = 100'000) {
  start.set_keep_output(bytes);
  start.set_note("note of " + start.argv(start.argv_size() - 1));
  return start;
}

}  // namespace

wire::ToHost AgentReconnect::ask_to_adopt() {
  wire::ToAgent message;
  message.mutable_adopt();
  auto answer = client_->request(message);
  EXPECT_TRUE(answer.ok()) << answer.error().describe();
  return answer.ok() ? *answer : wire::ToHost();
}

void AgentReconnect::adopt(uint64_t deadline_ms) {
  wire::Setup setup = default_setup();
  setup.set_bound(false);
  setup.set_deadline_ms(deadline_ms);
  set_up(setup);
  EXPECT_TRUE(ask_to_adopt().has_done());
}

void AgentReconnect::lose_host() {
  const int fd = stream_.is_open() ? stream_.get() : agent_->stream();
  ASSERT_EQ(::shutdown(fd, SHUT_RDWR), 0);
}

void AgentReconnect::connect() {
  auto connected = agent_->connect();
  ASSERT_TRUE(connected.ok()) << connected.error().describe();
  stream_ = std::move(*connected);
  client_ = std::make_unique<AgentClient>(stream_.get());
}

std::vector<wire::CommandState> AgentReconnect::come_back() {
  connect();
  auto hello = client_->hello();
  EXPECT_TRUE(hello.ok());
  EXPECT_EQ(hello->protocol_id(), wire::protocol_id());
  auto states = client_->resume();
  EXPECT_TRUE(states.ok()) << states.error().describe();
  return states.ok() ? *states : std::vector<wire::CommandState>();
}

// ---- the end

TEST_P(AgentReconnect, GoesOnWithoutItsHostUntilTheDeadline) {
  adopt(3000);
  const auto start = std::chrono::steady_clock::now();
  client_->start(start_of({"yes"}));
  (void)client_->pump(300);
  lose_host();
  EXPECT_FALSE(agent_->wait_gone(1000));
  EXPECT_TRUE(agent_->wait_gone(20'000));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(2000));
}

TEST_P(AgentReconnect, BeforeItIsAdoptedTheEndOfTheStreamIsItsEnd) {
  wire::Setup setup = default_setup();
  setup.set_bound(false);
  setup.set_deadline_ms(60'000);
  set_up(setup);
  lose_host();
  EXPECT_TRUE(agent_->wait_gone(10'000));
}

TEST_P(AgentReconnect, WhatIsBoundOrWouldLiveForEverIsNotAdopted) {
  set_up(default_setup());
  EXPECT_TRUE(ask_to_adopt().has_failure());
  lose_host();
  EXPECT_TRUE(agent_->wait_gone(10'000));
}

TEST_P(AgentReconnect, WithoutADeadlineItIsNotAdopted) {
  wire::Setup setup = default_setup();
  setup.set_bound(false);
  set_up(setup);
  EXPECT_TRUE(ask_to_adopt().has_failure());
}

TEST_P(AgentReconnect, BeforeItIsAdoptedNobodyElseIsTakenIn) {
  wire::Setup setup = default_setup();
  setup.set_bound(false);
  setup.set_deadline_ms(60'000);
  set_up(setup);
  connect();
  EXPECT_FALSE(client_->hello().ok());
}

// ---- who speaks with it

TEST_P(AgentReconnect, ANewHostTakesThePlaceOfAnOldOne) {
  adopt();
  EXPECT_TRUE(come_back().empty());
  char byte = 0;
  EXPECT_EQ(::recv(agent_->stream(), &byte, 1, 0), 0) << "the old stream has ended";
  auto echo = client_->run({"echo", "new"});
  ASSERT_TRUE(echo.ok());
  EXPECT_EQ(echo->out, "new\n");
  EXPECT_TRUE(come_back().empty());
  EXPECT_TRUE(client_->run({"true"}).ok());
}

TEST_P(AgentReconnect, NothingIsDoneBeforeResume) {
  adopt();
  connect();
  wire::ToAgent message;
  message.mutable_usage_query();
  auto answer = client_->request(message);
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->has_failure());
  EXPECT_FALSE(client_->request(message).ok()) << "the stream has ended";
  EXPECT_TRUE(come_back().empty()) << "and the sandbox has not";
}

TEST_P(AgentReconnect, GarbageEndsTheStreamAndNotTheSandbox) {
  adopt();
  ASSERT_GT(::send(agent_->stream(), "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 0), 0);
  char byte = 0;
  EXPECT_EQ(::recv(agent_->stream(), &byte, 1, 0), 0);
  EXPECT_TRUE(come_back().empty());
}

// ---- commands

TEST_P(AgentReconnect, CommandsGoOnAndAreTold) {
  adopt();
  const uint32_t waits = client_->start(kept(shell("read line; echo got $line")));
  const uint32_t ends = client_->start(kept(shell("sleep 0.3; echo late; exit 7")));
  client_->start(start_of({"sleep", "1000"}));  // not kept
  auto both_started = [&] {
    return client_->command(waits).started.has_value() &&
           client_->command(ends).started.has_value();
  };
  ASSERT_TRUE(client_->wait_until(both_started).ok());
  const int pid = client_->command(waits).started->pid();
  lose_host();
  ::usleep(800'000);
  auto states = come_back();
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[0].command(), ends);
  EXPECT_EQ(states[0].ended().code(), 7);
  EXPECT_EQ(states[0].next(), 5u);
  EXPECT_FALSE(states[0].takes_input());
  EXPECT_EQ(states[1].command(), waits);
  EXPECT_EQ(states[1].pid(), pid);
  EXPECT_EQ(states[1].note(), "note of read line; echo got $line");
  EXPECT_FALSE(states[1].has_ended());
  EXPECT_TRUE(states[1].takes_input());

  ASSERT_TRUE(client_->attach(waits, 0).ok());
  client_->write_input(waits, "words\n");
  ASSERT_TRUE(client_->wait_for(waits).ok());
  EXPECT_EQ(client_->command(waits).out, "got words\n");

  auto attached = client_->attach(ends, 1);
  ASSERT_TRUE(attached.ok());
  EXPECT_EQ(attached->first(), 1u);
  ASSERT_TRUE(client_->wait_for(ends).ok());
  EXPECT_EQ(client_->command(ends).out, "ate\n");
  EXPECT_EQ(client_->command(ends).ended->code(), 7);
}

TEST_P(AgentReconnect, OutputWithoutAHostIsKeptAndTheOldestDropped) {
  adopt();
  const uint32_t id = client_->start(kept(
      shell("read go; i=0; while [ $i -lt 50000 ]; do echo $i; i=$((i+1)); done; echo end >&2")));
  ASSERT_TRUE(client_->wait_until([&] { return client_->command(id).started.has_value(); }).ok());
  client_->write_input(id, "go\n");
  (void)client_->pump(100);
  lose_host();
  std::vector<wire::CommandState> states;
  for (int i = 0; i < 100; ++i) {
    states = come_back();
    ASSERT_EQ(states.size(), 1u);
    if (states[0].has_ended()) break;
    ::usleep(100'000);
  }
  ASSERT_TRUE(states[0].has_ended()) << "nobody reads, and it does not wait";
  std::string all;
  for (int i = 0; i < 50'000; ++i) all += std::to_string(i) + "\n";
  EXPECT_EQ(states[0].next(), all.size() + 4);
  auto attached = client_->attach(id, 10);
  ASSERT_TRUE(attached.ok());
  EXPECT_GT(attached->first(), 10u) << "the gap is told";
  EXPECT_EQ(attached->first(), states[0].first_kept());
  ASSERT_TRUE(client_->wait_for(id).ok());
  EXPECT_EQ(client_->command(id).out, all.substr(attached->first()));
  EXPECT_EQ(client_->command(id).err, "end\n");
}

TEST_P(AgentReconnect, WhileAHostIsThereNothingIsLostHoweverSlowItReads) {
  adopt();
  lose_host();
  come_back();
  const uint32_t id = client_->start(kept(start_of({"seq", "1", "200000"}), 1000));
  client_->command(id).paused = true;
  for (int i = 0; i < 10; ++i) (void)client_->pump(50);
  client_->resume(id);
  ASSERT_TRUE(client_->wait_for(id).ok());
  EXPECT_EQ(client_->command(id).out.size(), 1'288'895u);
}

TEST_P(AgentReconnect, AReplayIsFollowedByWhatComesNext) {
  adopt();
  const uint32_t id = client_->start(kept(shell("seq 1 20000; read go; echo next")));
  ASSERT_TRUE(client_->wait_until([&] { return client_->command(id).out_bytes > 100; }).ok());
  lose_host();
  ::usleep(500'000);
  const auto states = come_back();
  ASSERT_EQ(states.size(), 1u);
  const auto attached = client_->attach(id, 0);
  ASSERT_TRUE(attached.ok());
  EXPECT_EQ(attached->first(), states[0].first_kept());
  client_->write_input(id, "go\n");
  ASSERT_TRUE(client_->wait_for(id).ok());
  std::string all;
  for (int i = 1; i <= 20'000; ++i) all += std::to_string(i) + "\n";
  EXPECT_EQ(client_->command(id).out, (all + "next\n").substr(attached->first()));
}

TEST_P(AgentReconnect, ATerminalIsFoundAsItWas) {
  adopt();
  wire::Start start = kept(shell("stty -echo; echo ready; read line; echo got $line"));
  start.mutable_terminal()->set_rows(24);
  start.mutable_terminal()->set_columns(80);
  const uint32_t id = client_->start(start);
  ASSERT_TRUE(client_->wait_until([&] { return client_->command(id).out_bytes >= 7; }).ok());
  lose_host();
  const auto states = come_back();
  ASSERT_EQ(states.size(), 1u);
  EXPECT_TRUE(states[0].terminal());
  ASSERT_TRUE(client_->attach(id, UINT64_MAX).ok()) << "from now on";
  client_->write_input(id, "typed\n");
  ASSERT_TRUE(client_->wait_for(id).ok());
  EXPECT_EQ(client_->command(id).out, "got typed\r\n");
}

TEST_P(AgentReconnect, WhatIsForgottenOrNotThereIsNotAttached) {
  adopt();
  const uint32_t id = client_->start(kept(start_of({"true"})));
  ASSERT_TRUE(client_->wait_for(id).ok());
  lose_host();
  ASSERT_EQ(come_back().size(), 1u);
  EXPECT_FALSE(client_->attach(77, 0).ok());
  client_->forget(id);
  EXPECT_FALSE(client_->attach(id, 0).ok());
  EXPECT_TRUE(come_back().empty());
}

}  // namespace paddock::agent::testing
