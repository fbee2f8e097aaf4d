#include "agent/testing/conformance.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <vector>

#include "base/strings.h"
#include "wire/build_id.h"

namespace paddock::agent::testing {

using wire::Denied;
using wire::Ended;
using wire::testing::AgentClient;
using wire::testing::ClientCommand;
using wire::testing::shell;
using wire::testing::start_of;

namespace {

std::string failed(const Error& error) {
  return error.describe() + "; " + error.remedy();
}

}  // namespace

std::string name_of_transport(const ::testing::TestParamInfo<Transport>& info) {
  return info.param.name;
}

int64_t ms_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

// ---- fixtures

void AgentLifetime::SetUp() {
  auto started = GetParam().start();
  if (!started.ok() && started.error().code() == Code::unsupported) {
    GTEST_SKIP() << started.error().message();
  }
  ASSERT_TRUE(started.ok()) << failed(started.error());
  agent_ = std::move(*started);
  client_ = std::make_unique<AgentClient>(agent_->stream());
}

wire::Setup AgentLifetime::default_setup() const {
  wire::Setup setup = GetParam().setup();
  add_test_filter(setup);
  return setup;
}

wire::Evidence AgentLifetime::set_up(const wire::Setup& setup) {
  auto evidence = client_->setup(setup);
  EXPECT_TRUE(evidence.ok()) << failed(evidence.error());
  return evidence.ok() ? *evidence : wire::Evidence();
}

struct AgentConformance::Shared {
  std::unique_ptr<RunningAgent> agent;
  std::unique_ptr<AgentClient> client;
  wire::Evidence evidence;
};

std::map<std::string, std::unique_ptr<AgentConformance::Shared>> AgentConformance::all_shared_;

void AgentConformance::SetUp() {
  std::unique_ptr<Shared>& slot = all_shared_[GetParam().name + kind()];
  shared_ = slot.get();
  if (shared_ != nullptr && !shared_->client->is_closed()) return;
  slot.reset();
  auto started = GetParam().start();
  if (!started.ok() && started.error().code() == Code::unsupported) {
    GTEST_SKIP() << started.error().message();
  }
  ASSERT_TRUE(started.ok()) << failed(started.error());
  slot = std::make_unique<Shared>();
  slot->agent = std::move(*started);
  slot->client = std::make_unique<AgentClient>(slot->agent->stream());
  auto evidence = slot->client->setup(shared_setup());
  ASSERT_TRUE(evidence.ok()) << failed(evidence.error());
  slot->evidence = *evidence;
  shared_ = slot.get();
}

wire::Setup AgentConformance::shared_setup() const {
  wire::Setup setup = GetParam().setup();
  add_test_filter(setup);
  return setup;
}

void AgentConformance::TearDownTestSuite() {
  all_shared_.clear();
}

AgentClient& AgentConformance::client() {
  return *shared_->client;
}
const wire::Evidence& AgentConformance::evidence() {
  return shared_->evidence;
}

std::string AgentConformance::output_of(wire::Start start) {
  auto result = client().run(std::move(start));
  EXPECT_TRUE(result.ok()) << failed(result.error());
  if (!result.ok()) return {};
  EXPECT_FALSE(result->failure.has_value()) << result->failure->message();
  if (!result->ended) return {};
  EXPECT_EQ(result->ended->how(), Ended::EXITED) << result->err;
  EXPECT_EQ(result->ended->code(), 0) << result->err;
  return result->out;
}

std::string AgentConformance::shell_output(const std::string& script) {
  return output_of(shell(script));
}

int AgentConformance::count_processes(const std::string& name) {
  // The bracket keeps grep from finding itself.
  const std::string text = shell_output("ps -o comm= | grep -c '^[" + name.substr(0, 1) + "]" +
                                        name.substr(1) + "$'; true");
  return static_cast<int>(parse_u64(trim(text)).value_or(9999));
}

// Far below every time-out of a program or a protocol, far above what a busy machine needs.
int64_t AgentConformance::at_once() const {
  return int64_t{5000} * GetParam().slowness;
}

// ---- life of a sandbox

TEST_P(AgentLifetime, HelloCarriesProtocolAndBuild) {
  auto hello = client_->hello();
  ASSERT_TRUE(hello.ok()) << failed(hello.error());
  EXPECT_EQ(hello->protocol(), wire::kProtocolVersion);
  EXPECT_EQ(hello->build_id(), wire::build_id());
}

TEST_P(AgentLifetime, HostOfAnotherBuildIsRefused) {
  wire::Setup setup = default_setup();
  setup.set_build_id("another");
  auto evidence = client_->setup(setup);
  ASSERT_FALSE(evidence.ok());
  EXPECT_NE(evidence.error().message().find("different builds"), std::string::npos);
  EXPECT_TRUE(agent_->wait_gone(10'000));
}

TEST_P(AgentLifetime, NothingRunsBeforeSetup) {
  const uint32_t id = client_->start(start_of({"true"}));
  ASSERT_TRUE(client_->wait_for(id).ok());
  EXPECT_TRUE(client_->command(id).failure.has_value());
  EXPECT_TRUE(agent_->wait_gone(10'000));
}

TEST_P(AgentLifetime, SetupThatCannotBeDoneEndsTheSandbox) {
  wire::Setup setup = default_setup();
  setup.set_seccomp_filter("12345");
  EXPECT_FALSE(client_->setup(setup).ok());
  EXPECT_TRUE(agent_->wait_gone(10'000));
}

TEST_P(AgentLifetime, SecondSetupEndsTheSandbox) {
  set_up(default_setup());
  EXPECT_FALSE(client_->setup(default_setup()).ok());
  EXPECT_TRUE(agent_->wait_gone(10'000));
}

TEST_P(AgentLifetime, StopEndsEverything) {
  set_up(default_setup());
  client_->start(start_of({"agent-guest", "escape", "fugitive"}));
  client_->start(start_of({"sleep", "1000"}));
  (void)client_->pump(300);
  wire::ToAgent stop;
  stop.mutable_stop();
  EXPECT_FALSE(client_->request(stop).ok()) << "there is no answer, the stream ends";
  EXPECT_TRUE(agent_->wait_gone(10'000));
}

TEST_P(AgentLifetime, DeadlineEndsEverything) {
  wire::Setup setup = default_setup();
  setup.set_deadline_ms(1500);
  set_up(setup);
  const auto start = Clock::now();
  client_->start(start_of({"sleep", "1000"}));
  EXPECT_TRUE(agent_->wait_gone(20'000));
  EXPECT_GE(ms_since(start), 1000);
}

TEST_P(AgentLifetime, DeadlineCanBePutOffAndTakenAway) {
  wire::Setup setup = default_setup();
  setup.set_deadline_ms(2000);
  set_up(setup);
  for (uint64_t ms : {4000u, 0u}) {
    wire::ToAgent message;
    message.mutable_deadline()->set_deadline_ms(ms);
    auto answer = client_->request(message);
    ASSERT_TRUE(answer.ok()) << failed(answer.error());
    EXPECT_TRUE(answer->has_done());
  }
  EXPECT_FALSE(agent_->wait_gone(2500));
}

TEST_P(AgentLifetime, EndOfTheStreamEndsABoundSandbox) {
  set_up(default_setup());
  client_->start(start_of({"agent-guest", "escape", "fugitive"}));
  (void)client_->pump(300);
  ASSERT_EQ(::shutdown(agent_->stream(), SHUT_RDWR), 0);
  EXPECT_TRUE(agent_->wait_gone(10'000));
}

TEST_P(AgentLifetime, FloodOfRefusalsDoesNotHoldUpTheDeadline) {
  wire::Setup setup = default_setup();
  setup.set_deadline_ms(2000);
  set_up(setup);
  for (const char* call : {"refused-calls", "refused-sends", "refused-names"}) {
    client_->start(start_of({"agent-guest", call, "1000000000"}));
  }
  (void)client_->wait_until([] { return false; }).ok();
  EXPECT_TRUE(agent_->wait_gone(20'000));
}

TEST_P(AgentLifetime, GarbageEndsTheSandbox) {
  set_up(default_setup());
  ASSERT_GT(::send(agent_->stream(), "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 0), 0);
  EXPECT_TRUE(agent_->wait_gone(10'000));
}

TEST_P(AgentLifetime, WithoutAFilterNothingIsReported) {
  set_up(GetParam().setup());  // the twin of RefusedSystemCallIsReported
  auto result = client_->run({"agent-guest", "refused-calls", "1"});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, std::to_string(EPERM) + "\n");
  EXPECT_TRUE(client_->denials().empty());
}

TEST_P(AgentLifetime, DenialsAreBounded) {
  wire::Setup setup = default_setup();
  setup.set_denial_limit(3);
  set_up(setup);
  auto result = client_->run(
      shell("for i in 1 2 3 4 5 6 7 8; do agent-guest lookup n$i.example; done >/dev/null"));
  ASSERT_TRUE(result.ok());
  ASSERT_FALSE(client_->denials().empty());
  uint64_t records = 0;
  for (const Denied& denied : client_->denials()) records += denied.count() > 0 ? 1 : 0;
  EXPECT_EQ(records, 3u);
  EXPECT_EQ(client_->denials().back().dropped(), 5u);
}

// ---- evidence

TEST_P(AgentConformance, EvidenceShowsACommandWithoutPrivilege) {
  const wire::Evidence& seen = evidence();
  EXPECT_EQ(seen.seccomp_mode(), static_cast<uint32_t>(SECCOMP_MODE_FILTER));
  EXPECT_GE(seen.seccomp_filters(), 1u);
  EXPECT_EQ(seen.cap_effective(), 0u);
  EXPECT_EQ(seen.cap_permitted(), 0u);
  EXPECT_EQ(seen.cap_inheritable(), 0u);
  EXPECT_EQ(seen.cap_bounding(), 0u);
  EXPECT_EQ(seen.cap_ambient(), 0u);
  EXPECT_TRUE(seen.no_new_privs());
  EXPECT_FALSE(seen.uid_map().empty());
  EXPECT_FALSE(seen.kernel_release().empty());
  EXPECT_EQ(seen.namespaces_size(), 8);
  EXPECT_LT(seen.agent_private_bytes(), 2u << 20);
  EXPECT_GT(seen.agent_private_bytes(), 0u);
}

TEST_P(AgentConformance, EvidenceIsWhatACommandSees) {
  const std::string status = shell_output("cat /proc/self/status");
  for (const char* line : {"CapEff:\t0000000000000000\n", "CapBnd:\t0000000000000000\n",
                           "NoNewPrivs:\t1\n", "Seccomp:\t2\n"}) {
    EXPECT_NE(status.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(shell_output("id -u"), std::to_string(evidence().uid()) + "\n");
  const std::string net = "net:[" + std::to_string(evidence().namespaces().at("net")) + "]\n";
  EXPECT_EQ(shell_output("readlink /proc/self/ns/net"), net);
}

TEST_P(AgentConformance, AgentIsClosedToInspection) {
  EXPECT_EQ(shell_output("cat /proc/1/environ /proc/1/maps 2>/dev/null | wc -c"), "0\n");
  EXPECT_EQ(shell_output("readlink /proc/1/fd/3; cat /proc/1/fd/3 2>/dev/null; true"), "");
  EXPECT_NE(shell_output("readlink /proc/self/fd/0"), "");
  EXPECT_NE(shell_output("cat /proc/self/maps | wc -c"), "0\n") << "its own can be read";
}

TEST_P(AgentConformance, CommandHasNoDescriptorOfTheAgent) {
  // ls itself opens the directory.
  EXPECT_EQ(shell_output("ls /proc/self/fd | tr '\\n' ' '"), "0 1 2 3 ");
}

// ---- commands

TEST_P(AgentConformance, CommandGetsArgumentsEnvironmentAndDirectory) {
  wire::Start start = start_of({"/bin/sh", "-c", "echo \"$0|$1|$K|$PWD\"", "zero", "a b\tc"});
  start.add_environment("K=v=w");
  start.set_directory("/tmp");
  EXPECT_EQ(output_of(start), "zero|a b\tc|v=w|/tmp\n");
}

TEST_P(AgentConformance, ExitStatusComesBack) {
  for (int code : {0, 1, 7, 126, 127, 255}) {
    auto result = client().run({"agent-guest", "exit", std::to_string(code)});
    ASSERT_TRUE(result.ok() && result->ended);
    EXPECT_EQ(result->ended->how(), Ended::EXITED);
    EXPECT_EQ(result->ended->code(), code);
  }
}

TEST_P(AgentConformance, DeathByASignalIsNoExit) {
  for (int number : {SIGKILL, SIGTERM, SIGSEGV}) {
    auto result = client().run(shell("kill -" + std::to_string(number) + " $$"));
    ASSERT_TRUE(result.ok() && result->ended);
    EXPECT_EQ(result->ended->how(), Ended::SIGNALLED);
    EXPECT_EQ(result->ended->code(), number);
  }
}

TEST_P(AgentConformance, UsageOfTheCommandComesBack) {
  auto result = client().run(shell("i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"));
  ASSERT_TRUE(result.ok() && result->ended);
  EXPECT_GT(result->ended->user_us() + result->ended->system_us(), 1000u);
  EXPECT_GE(result->ended->wall_us() + 1000, result->ended->user_us());
  EXPECT_GT(result->ended->max_rss_bytes(), 100'000u);
}

TEST_P(AgentConformance, ProgramThatIsNotThereIsNotFound) {
  for (const char* name : {"no-such-program", "/bin/no-such-program"}) {
    auto result = client().run({name});
    ASSERT_TRUE(result.ok() && result->ended) << name;
    EXPECT_TRUE(result->started.has_value());
    EXPECT_EQ(result->ended->how(), Ended::NOT_FOUND);
    EXPECT_EQ(result->ended->code(), ENOENT);
  }
}

TEST_P(AgentConformance, ProgramThatCannotRunIsNotExecutable) {
  for (const char* name : {"/tmp", "/proc/self/status"}) {
    auto result = client().run({name});
    ASSERT_TRUE(result.ok() && result->ended) << name;
    EXPECT_EQ(result->ended->how(), Ended::NOT_EXECUTABLE);
    EXPECT_EQ(result->ended->code(), EACCES);
  }
}

TEST_P(AgentConformance, ScriptWithoutAnInterpreterLineIsRunByTheShell) {
  shell_output("echo 'echo ran $1' > /tmp/script; chmod 755 /tmp/script 2>/dev/null || true");
  shell_output("cat /bin/true > /dev/null");
  wire::Start start = start_of({"/tmp/script", "x"});
  auto result = client().run(start);
  ASSERT_TRUE(result.ok() && result->ended);
  EXPECT_EQ(result->out, "ran x\n");
}

TEST_P(AgentConformance, DirectoryThatIsNotThereIsAFailure) {
  wire::Start start = start_of({"true"});
  start.set_directory("/no/such/directory");
  auto result = client().run(start);
  ASSERT_TRUE(result.ok() && result->failure);
  EXPECT_EQ(result->failure->error(), ENOENT);
  EXPECT_NE(result->failure->message().find("directory"), std::string::npos);
  EXPECT_EQ(shell_output("echo still there"), "still there\n");
}

TEST_P(AgentConformance, FailureAboutAnyBytesIsPlainText) {
  wire::Start start = start_of({"true"});
  start.add_landlock()->set_path("/" + std::string(300, '\xff'));  // longer than a name may be
  auto result = client().run(start);
  ASSERT_TRUE(result.ok()) << failed(result.error());
  EXPECT_TRUE(result->failure.has_value());
  EXPECT_EQ(shell_output("echo still there"), "still there\n");
}

TEST_P(AgentConformance, CommandWithoutArgumentsIsAFailure) {
  auto result = client().run(wire::Start());
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->failure.has_value());
}

TEST_P(AgentConformance, ResourceLimitsHold) {
  wire::Start start = shell("ulimit -n");
  auto* limit = start.add_limits();
  limit->set_resource(RLIMIT_NOFILE);
  limit->set_value(77);
  EXPECT_EQ(output_of(start), "77\n");
}

TEST_P(AgentConformance, LandlockRefusesWhatNoRuleNames) {
  if (evidence().landlock_abi() == 0) GTEST_SKIP() << "needs landlock: not in this kernel";
  shell_output("mkdir -p /tmp/in /tmp/out; echo secret > /tmp/out/file");
  wire::Start start = shell("echo ok > /tmp/in/file; cat /tmp/in/file /tmp/out/file");
  for (const char* path : {"/bin", "/proc"}) {
    start.add_landlock()->set_path(path);
    start.mutable_landlock()->rbegin()->set_rights(wire::PathRule::READ);
  }
  for (const char* path : {"/tmp/in", "/dev"}) {
    start.add_landlock()->set_path(path);
    start.mutable_landlock()->rbegin()->set_rights(wire::PathRule::READ_WRITE);
  }
  auto result = client().run(start);
  ASSERT_TRUE(result.ok() && result->ended);
  EXPECT_EQ(result->out, "ok\n");
  EXPECT_NE(result->err.find("denied"), std::string::npos) << result->err;
  EXPECT_EQ(shell_output("cat /tmp/out/file"), "secret\n") << "without a domain it can be read";
}

TEST_P(AgentConformance, CommandGoesBeforeTheAgentWhenMemoryRunsOut) {
  // The agent has the command's score itself while it makes the command's first process.
  const std::string scores =
      shell_output("sleep 0.2; cat /proc/self/oom_score_adj /proc/1/oom_score_adj");
  const auto lines = split(scores, '\n');
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_GT(std::stoi(lines[0]), std::stoi(lines[1]));
}

TEST_P(AgentConformance, ManyShortCommandsAllReportTheirOwnStatus) {
  const int total = scaled(20'000);
  constexpr int kAtATime = 16;
  std::vector<uint32_t> running;
  int started = 0;
  int right = 0;
  while (started < total || !running.empty()) {
    while (started < total && running.size() < kAtATime) {
      running.push_back(client().start(start_of({"/bin/agent-guest", "exit", "7"})));
      client().end_input(running.back());
      ++started;
    }
    ASSERT_TRUE(client()
                    .wait_until([&] {
                      return std::ranges::any_of(
                          running, [&](uint32_t id) { return client().command(id).is_over(); });
                    })
                    .ok());
    std::erase_if(running, [&](uint32_t id) {
      if (!client().command(id).is_over()) return false;
      const ClientCommand command = client().take(id);
      if (command.ended && command.ended->how() == Ended::EXITED && command.ended->code() == 7) {
        ++right;
      }
      return true;
    });
  }
  EXPECT_EQ(right, total);
}

TEST_P(AgentConformance, ShortChildrenOfACommandAllReportTheirOwnStatus) {
  EXPECT_EQ(shell_output("i=0; bad=0; while [ $i -lt " + std::to_string(scaled(2000)) +
                         " ]; do (exit 7); [ $? = 7 ] || bad=$((bad+1)); i=$((i+1)); done; "
                         "echo $bad"),
            "0\n");
}

TEST_P(AgentConformance, OrphansLeaveNoZombie) {
  const std::string script = "agent-guest orphans " + std::to_string(scaled(5000)) +
                             "; sleep 0.2; grep -l '^State:.Z' /proc/[0-9]*/status | wc -l";
  EXPECT_EQ(shell_output(script), "0\n");
}

// ---- streams

TEST_P(AgentConformance, EchoComesBack) {
  const uint32_t id = client().start(start_of({"cat"}));
  client().write_input(id, "hello\n");
  ASSERT_TRUE(client().wait_until([&] { return client().command(id).out == "hello\n"; }).ok());
  client().end_input(id);
  ASSERT_TRUE(client().wait_for(id).ok());
  const ClientCommand command = client().take(id);
  EXPECT_EQ(command.ended->how(), Ended::EXITED);
  EXPECT_TRUE(command.out_ended && command.err_ended) << "the streams end before the command does";
}

TEST_P(AgentConformance, OutputsAreKeptApart) {
  auto result = client().run(shell("echo out; echo err >&2"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
}

TEST_P(AgentConformance, OutputsCanBeMergedInTheOrderOfWriting) {
  const uint32_t id =
      client().start(shell("echo 1; echo 2 >&2; echo 3"), wire::testing::Outputs::merged);
  ASSERT_TRUE(client().wait_for(id).ok());
  EXPECT_EQ(client().take(id).out, "1\n2\n3\n");
}

TEST_P(AgentConformance, BytesSplitInsideACharacterComeThroughUnchanged) {
  const std::string text = "caf\xc3\xa9\xe2\x98\x95\n";
  for (size_t at = 1; at < text.size(); ++at) {
    EXPECT_EQ(output_of(start_of({"agent-guest", "gap", text, std::to_string(at)})), text);
  }
}

TEST_P(AgentConformance, BigInputAndOutputArriveWhole) {
  const auto size = static_cast<size_t>(scaled(64)) << 20;
  const uint32_t reader = client().start(start_of({"agent-guest", "check"}));
  const uint32_t writer = client().start(start_of({"agent-guest", "fill", std::to_string(size)}));
  // What the one writes the other reads, through the host.
  size_t passed = 0;
  ASSERT_TRUE(client()
                  .wait_until([&] {
                    ClientCommand& from = client().command(writer);
                    passed += from.out.size();
                    client().write_input(reader, from.out);
                    from.out.clear();
                    return from.is_over() && client().command(reader).input.empty();
                  })
                  .ok());
  client().end_input(reader);
  ASSERT_TRUE(client().wait_for(reader).ok());
  EXPECT_EQ(passed, size);
  EXPECT_EQ(client().take(reader).out, std::to_string(size) + "\n");
}

TEST_P(AgentConformance, SlowReaderHoldsUpNobodyElse) {
  const uint32_t slow = client().start(start_of({"agent-guest", "fill", "4000000"}));
  client().command(slow).paused = true;
  ASSERT_TRUE(
      client()
          .wait_until([&] { return client().command(slow).out_bytes == wire::kInitialCredit; })
          .ok());
  EXPECT_EQ(shell_output("echo quick"), "quick\n");
  (void)client().pump(200);
  EXPECT_EQ(client().command(slow).out_bytes, size_t{wire::kInitialCredit}) << "it is blocked";
  client().resume(slow);
  ASSERT_TRUE(client().wait_for(slow).ok());
  EXPECT_EQ(client().take(slow).out_bytes, 4000000u);
}

TEST_P(AgentConformance, OutputThatTheHostDoesNotWantStopsTheCommand) {
  const uint32_t id = client().start(start_of({"yes"}));
  ASSERT_TRUE(client().wait_until([&] { return client().command(id).out_bytes > 0; }).ok());
  client().reset_output(id);
  ASSERT_TRUE(client().wait_for(id).ok());
  const ClientCommand command = client().take(id);
  EXPECT_EQ(command.ended->how(), Ended::SIGNALLED);
  EXPECT_EQ(command.ended->code(), SIGPIPE);
}

TEST_P(AgentConformance, InputThatNobodyReadsDoesNotHangTheCommand) {
  const uint32_t id = client().start(start_of({"true"}));
  client().write_input(id, std::string(3 << 20, 'x'));
  ASSERT_TRUE(client().wait_for(id).ok());
  EXPECT_EQ(client().take(id).ended->code(), 0);
}

TEST_P(AgentConformance, OpenInputDoesNotHangACommandThatEnds) {
  const uint32_t id = client().start(start_of({"echo", "hi"}));  // no end_input()
  ASSERT_TRUE(client().wait_for(id).ok());
  EXPECT_EQ(client().take(id).out, "hi\n");
}

TEST_P(AgentConformance, OutputLimitEndsTheCommand) {
  wire::Start start = start_of({"yes"});
  start.set_output_limit(100'000);
  auto result = client().run(start);
  ASSERT_TRUE(result.ok() && result->ended);
  EXPECT_EQ(result->ended->how(), Ended::OUTPUT_LIMIT);
  EXPECT_EQ(result->out_bytes, 100'000u);
}

TEST_P(AgentConformance, OutputOfExactlyTheLimitIsNoViolation) {
  wire::Start start = start_of({"agent-guest", "fill", "100000"});
  start.set_output_limit(100'000);
  auto result = client().run(start);
  ASSERT_TRUE(result.ok() && result->ended);
  EXPECT_EQ(result->ended->how(), Ended::EXITED);
  EXPECT_EQ(result->out_bytes, 100'000u);
}

// ---- time, signals, and what is left behind

TEST_P(AgentConformance, TimeoutKillsTheWholeTree) {
  wire::Start start = shell("agent-guest escape fugitive; sleep 1000");
  start.set_timeout_ms(500);
  const auto begin = Clock::now();
  auto result = client().run(start);
  ASSERT_TRUE(result.ok() && result->ended);
  EXPECT_EQ(result->ended->how(), Ended::TIMED_OUT);
  EXPECT_GE(ms_since(begin), 450);
  EXPECT_LT(ms_since(begin), at_once());
  EXPECT_EQ(count_processes("fugitive"), 0);
}

TEST_P(AgentConformance, PartialOutputOfATimedOutCommandArrives) {
  wire::Start start = shell("echo partial; sleep 1000");
  start.set_timeout_ms(500);
  auto result = client().run(start);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "partial\n");
}

TEST_P(AgentConformance, CommandThatStopsOrKillsItsSupervisorDoesNotEscape) {
  for (int number : {SIGSTOP, SIGKILL}) {
    wire::Start start = shell(
        "agent-guest escape fugitive; agent-guest escape fugitive; exec "
        "agent-guest signal-parent " +
        std::to_string(number));
    start.set_timeout_ms(500);
    const auto begin = Clock::now();
    auto result = client().run(start);
    ASSERT_TRUE(result.ok() && result->ended) << number;
    EXPECT_EQ(result->ended->how(), number == SIGSTOP ? Ended::TIMED_OUT : Ended::SIGNALLED);
    EXPECT_LT(ms_since(begin), at_once());
    EXPECT_EQ(count_processes("fugitive"), 0);
  }
}

TEST_P(AgentConformance, LandlockKeepsTheSupervisorOutOfReach) {
  if (evidence().landlock_abi() < 6)
    GTEST_SKIP() << "needs landlock-scopes: they come with kernel 6.12";
  wire::Start start = start_of({"agent-guest", "signal-parent", "9"});
  start.add_landlock()->set_path("/");
  EXPECT_EQ(client().run(start)->out, "Operation not permitted\n");
}

TEST_P(AgentConformance, BackgroundChildThatHoldsOutputDoesNotHangTheCommand) {
  const auto begin = Clock::now();
  auto result = client().run(shell("sleep 1000 & echo done"));
  ASSERT_TRUE(result.ok() && result->ended);
  EXPECT_EQ(result->out, "done\n");
  EXPECT_EQ(result->ended->how(), Ended::EXITED);
  EXPECT_EQ(result->ended->leftovers(), 1u);
  EXPECT_LT(ms_since(begin), at_once());
  EXPECT_EQ(count_processes("sleep"), 0);
}

TEST_P(AgentConformance, LeftoverMayFinishWhatItIsWriting) {
  auto result = client().run(shell("(sleep 0.03; echo late) & echo early"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "early\nlate\n");
  EXPECT_EQ(result->ended->leftovers(), 0u);
}

TEST_P(AgentConformance, LeftoverIsKeptWhereThatWasAsked) {
  wire::Start start = shell("agent-guest chatter talker & echo done");
  start.set_keep_leftovers(true);
  const uint32_t id = client().start(start);
  ASSERT_TRUE(client().wait_for(id).ok());
  EXPECT_EQ(client().command(id).ended->leftovers(), 0u);
  EXPECT_NE(client().command(id).out.find("done\n"), std::string::npos);
  shell_output("sleep 0.5");
  EXPECT_EQ(count_processes("talker"), 1) << "it goes on though nobody reads it";
  EXPECT_TRUE(client().signal(id, SIGKILL, true).ok());
  EXPECT_TRUE(client().wait_until([&] { return count_processes("talker") == 0; }).ok());
}

TEST_P(AgentConformance, ManyLeftoversDieQuickly) {
  const std::string count = std::to_string(scaled(300));
  const auto begin = Clock::now();
  auto result = client().run(shell("i=0; while [ $i -lt " + count +
                                   " ]; do agent-guest escape fugitive; i=$((i+1)); done"));
  ASSERT_TRUE(result.ok() && result->ended);
  EXPECT_EQ(std::to_string(result->ended->leftovers()), count);
  EXPECT_LT(ms_since(begin), at_once());
  EXPECT_EQ(count_processes("fugitive"), 0);
}

TEST_P(AgentConformance, SignalReachesTheGroupOrTheWholeTree) {
  const std::string script =
      "trap 'echo got; exit 3' TERM; setsid sh -c 'trap \"echo child; exit\" "
      "TERM; echo up; while :; do sleep 0.05; done' & "
      "while :; do sleep 0.05; done";
  for (bool whole_tree : {false, true}) {
    const uint32_t id = client().start(shell(script));
    ASSERT_TRUE(client().wait_until([&] { return client().command(id).out == "up\n"; }).ok());
    ASSERT_TRUE(client().signal(id, SIGTERM, whole_tree).ok());
    ASSERT_TRUE(client().wait_for(id).ok());
    const ClientCommand command = client().take(id);
    EXPECT_EQ(command.ended->code(), 3);
    EXPECT_NE(command.out.find("got\n"), std::string::npos);
    EXPECT_EQ(command.out.find("child\n") != std::string::npos, whole_tree) << command.out;
  }
}

// Its output may have been heard by then.
TEST_P(AgentConformance, SignalBeforeTheStartIsReportedReachesTheCommand) {
  const uint32_t id = client().start(start_of({"sleep", "1000"}));
  EXPECT_TRUE(client().signal(id, SIGTERM, false).ok());
  ASSERT_TRUE(client().wait_for(id).ok());
  EXPECT_EQ(client().command(id).ended->how(), wire::Ended::SIGNALLED);
  EXPECT_EQ(client().command(id).ended->code(), SIGTERM);
}

TEST_P(AgentConformance, SignalToWhatIsGoneIsAFailure) {
  auto gone = client().signal(4'000'000, SIGTERM, false);
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error().errno_value(), ESRCH);
}

TEST_P(AgentConformance, UsageCountsProcesses) {
  const uint32_t id = client().start(shell("sleep 1000 & sleep 1000; true"));
  auto processes = [&] {
    wire::ToAgent message;
    message.mutable_usage_query();
    auto answer = client().request(message);
    return answer.ok() ? answer->usage().processes() : 0u;
  };
  EXPECT_TRUE(client().wait_until([&] { return processes() == 3; }).ok());
  ASSERT_TRUE(client().signal(id, SIGKILL, true).ok());
  ASSERT_TRUE(client().wait_for(id).ok());
  EXPECT_TRUE(client().wait_until([&] { return processes() == 0; }).ok());
}

// ---- terminals

class TerminalSession {
 public:
  TerminalSession(AgentClient& client, wire::Start start) : client_(client) {
    start.mutable_terminal()->set_rows(33);
    start.mutable_terminal()->set_columns(101);
    id_ = client_.start(std::move(start));
  }

  uint32_t id() const { return id_; }
  void type(std::string_view text) { client_.write_input(id_, text); }
  bool shows(const std::string& text) {
    return client_
        .wait_until([&] { return client_.command(id_).out.find(text) != std::string::npos; })
        .ok();
  }
  ClientCommand end() {
    EXPECT_TRUE(client_.wait_for(id_).ok());
    return client_.take(id_);
  }

 private:
  AgentClient& client_;
  uint32_t id_;
};

TEST_P(AgentConformance, TerminalHasItsSizeAtTheStart) {
  TerminalSession session(client(), shell("stty size; tty"));
  const ClientCommand command = session.end();
  EXPECT_EQ(command.out, "33 101\r\n/dev/pts/0\r\n");
  EXPECT_EQ(command.ended->code(), 0);
}

TEST_P(AgentConformance, ResizeTellsTheProgram) {
  TerminalSession session(client(), shell("trap 'stty size; exit' WINCH; echo ready; "
                                          "while :; do sleep 0.05; done"));
  ASSERT_TRUE(session.shows("ready"));
  wire::ToAgent resize;
  resize.mutable_resize()->set_command(session.id());
  resize.mutable_resize()->mutable_terminal()->set_rows(7);
  resize.mutable_resize()->mutable_terminal()->set_columns(9);
  EXPECT_TRUE(client().request(resize)->has_done());
  EXPECT_NE(session.end().out.find("7 9\r\n"), std::string::npos);
}

TEST_P(AgentConformance, ResizeOfPipesIsAFailure) {
  const uint32_t id = client().start(start_of({"cat"}));
  wire::ToAgent resize;
  resize.mutable_resize()->set_command(id);
  EXPECT_TRUE(client().request(resize)->has_failure());
  client().end_input(id);
  ASSERT_TRUE(client().wait_for(id).ok());
}

TEST_P(AgentConformance, InterruptKeyReachesTheForeground) {
  TerminalSession session(client(), shell("trap 'echo interrupted; exit 5' INT; echo ready; "
                                          "while :; do sleep 0.05; done"));
  ASSERT_TRUE(session.shows("ready"));
  session.type("\x03");
  const ClientCommand command = session.end();
  EXPECT_NE(command.out.find("interrupted"), std::string::npos);
  EXPECT_EQ(command.ended->code(), 5);
}

TEST_P(AgentConformance, EndOfFileKeyReachesTheReader) {
  TerminalSession session(client(), start_of({"cat"}));
  session.type("line\n");
  ASSERT_TRUE(session.shows("line\r\nline\r\n"));
  session.type("\x04");
  EXPECT_EQ(session.end().ended->code(), 0);
}

TEST_P(AgentConformance, EndOfInputSaysNothingOnATerminal) {
  TerminalSession session(client(), shell("read line && echo \"<$line>\"; sleep 0.3; echo alive"));
  session.type("word\n");
  client().end_input(session.id());
  const ClientCommand command = session.end();
  EXPECT_TRUE(command.out.ends_with("<word>\r\nalive\r\n")) << command.out;
}

TEST_P(AgentConformance, EndOfATerminalHangsUpWhatIsLeft) {
  TerminalSession session(client(), shell("setsid sleep 1000 & sleep 1000 & echo done"));
  const ClientCommand command = session.end();
  EXPECT_EQ(command.out, "done\r\n");
  EXPECT_EQ(count_processes("sleep"), 0);
}

TEST_P(AgentConformance, BigOutputOfATerminalArrivesWhole) {
  TerminalSession session(client(), shell("seq 1 20000"));
  const ClientCommand command = session.end();
  EXPECT_TRUE(command.out.ends_with("\r\n19999\r\n20000\r\n"));
  EXPECT_EQ(std::ranges::count(command.out, '\n'), 20000);
}

// ---- refusals

TEST_P(AgentConformance, RefusedSystemCallIsReported) {
  EXPECT_EQ(output_of(start_of({"agent-guest", "refused-calls", "1"})),
            std::to_string(ENOTRECOVERABLE) + "\n");
  const auto denied = client().find_denial(Denied::SYSCALL, "sethostname");
  ASSERT_TRUE(denied.has_value());
  EXPECT_EQ(denied->process(), "agent-guest");
  EXPECT_GT(denied->pid(), 1);
  EXPECT_GT(denied->first_ms(), 0);
}

TEST_P(AgentConformance, FloodOfRefusedCallsIsAFewRecords) {
  const size_t before = client().denials().size();
  const auto calls = static_cast<uint64_t>(scaled(20'000));
  output_of(start_of({"agent-guest", "refused-calls", std::to_string(calls)}));
  uint64_t counted = 0;
  for (size_t i = before; i < client().denials().size(); ++i) {
    counted += client().denials()[i].count();
  }
  EXPECT_EQ(counted, calls) << "all of them are known when the command has ended";
  EXPECT_LT(client().denials().size() - before, 1000u);
}

TEST_P(AgentConformance, EveryNameButLocalhostIsRefusedAtOnce) {
  const auto begin = Clock::now();
  EXPECT_EQ(output_of(start_of({"agent-guest", "lookup", "Example.COM"})), "rcode 3\n");
  EXPECT_EQ(output_of(start_of({"agent-guest", "lookup-tcp", "tcp.example"})), "rcode 3\n");
  EXPECT_EQ(output_of(start_of({"agent-guest", "lookup", "localhost"})), "rcode 0\n");
  EXPECT_LT(ms_since(begin), at_once());
  EXPECT_TRUE(client().find_denial(Denied::NAME, "example.com").has_value());
  EXPECT_TRUE(client().find_denial(Denied::NAME, "tcp.example").has_value());
}

TEST_P(AgentConformance, EveryConnectionButLoopbackIsRefusedAtOnce) {
  if (!evidence().network_table()) {
    GTEST_SKIP() << "needs nftables: " << evidence().network_error();
  }
  EXPECT_EQ(evidence().network_error(), "");
  const auto begin = Clock::now();
  auto refusal = [&](const char* kind, const char* host, const char* port) {
    return client().run({"agent-guest", kind, host, port})->out;
  };
  EXPECT_EQ(refusal("tcp", "203.0.113.7", "443"), "Connection refused\n");
  EXPECT_EQ(refusal("tcp", "2001:db8::7", "443"), "Connection refused\n");
  EXPECT_EQ(refusal("udp", "203.0.113.7", "53"), "Operation not permitted\n");
  EXPECT_EQ(refusal("udp", "2001:db8::7", "53"), "Operation not permitted\n");
  EXPECT_EQ(refusal("udp", "127.0.0.1", "9"), "sent\n");
  EXPECT_EQ(refusal("tcp", "127.0.0.1", "9"), "Connection refused\n");
  EXPECT_LT(ms_since(begin), at_once());
  for (const char* what : {"tcp 203.0.113.7:443", "tcp [2001:db8::7]:443", "udp 203.0.113.7:53",
                           "udp [2001:db8::7]:53"}) {
    EXPECT_TRUE(client().find_denial(Denied::NETWORK, what).has_value()) << what;
  }
  for (const Denied& denied : client().denials()) {
    EXPECT_EQ(denied.what().find("127.0.0.1"), std::string::npos) << denied.what();
  }
}

TEST_P(AgentConformance, EveryDestinationOfAScanBecomesADenial) {
  if (!evidence().network_table()) GTEST_SKIP() << "needs nftables: no table";
  shell_output("for i in $(seq 1 100); do agent-guest udp 198.51.100.$i 9 || :; done >/dev/null");
  for (int i = 1; i <= 100; ++i) {
    const std::string what = "udp 198.51.100." + std::to_string(i) + ":9";
    EXPECT_TRUE(client().find_denial(Denied::NETWORK, what).has_value()) << what;
  }
}

}  // namespace paddock::agent::testing
