// Containers that outlive the process that started them, with the real agent.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "container_fixture.h"
#include "isolation/levels.h"
#include "sys/files.h"
#include "sys/path_lock.h"
#include "sys/pid.h"
#include "wire/testing/agent_client.h"

namespace paddock::isolation::testing {
namespace {

using wire::testing::AgentClient;

bool within(int limit_ms, const std::function<bool()>& holds) {
  for (int waited = 0; !holds(); waited += 5) {
    if (waited > limit_ms) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return true;
}

bool lives(int pid, int64_t start) {
  // A zombie that nobody has reaped yet has no command line.
  auto line = sys::read_file("/proc/" + std::to_string(pid) + "/cmdline");
  return sys::start_time_of(pid) == start && line.ok() && !line->empty();
}

class ContainerLeased : public ContainerTest {
 protected:
  void SetUp() override {
    PD_NEED_USER_NAMESPACES();
    plan_ = host_plan();
    const std::string self = sys::real_path("/proc/self/exe").value();
    plan_.agent_program = model::HostPath(self.substr(0, self.rfind('/')) + "/paddock-agent");
    plan_.lifetime = Lifetime::leased;
    ::mkdir(plan_.state_dir.c_str(), 0700);
  }

  static bool ask_to_adopt(AgentClient& client) {
    wire::ToAgent adopt;
    adopt.mutable_adopt();
    auto answer = client.request(adopt);
    return answer.ok() && answer->has_done();
  }

  // Starts it in another process, which is then killed, and fills in how to adopt it. In that
  // process a command is left running.
  enum class Adopted { yes, no };
  void start_elsewhere(Adopted adopted) {
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    const pid_t parent = ::fork();
    if (parent == 0) {
      auto sandbox = start(plan_);
      if (!sandbox.ok()) ::_exit(1);
      AgentClient client((*sandbox)->stream().get());
      wire::Setup setup = (*sandbox)->setup();
      setup.set_deadline_ms(60'000);
      auto evidence = client.setup(setup);
      if (!evidence.ok() || !(*sandbox)->check(*evidence).empty()) ::_exit(2);
      if (adopted == Adopted::yes && !ask_to_adopt(client)) ::_exit(3);
      const int pid = sys::pid_of((*sandbox)->agent());
      (void)!::write(told[1], &pid, sizeof pid);
      ::pause();
    }
    ::close(told[1]);
    adoption_.id = plan_.id;
    adoption_.state_dir = plan_.state_dir;
    adoption_.home = plan_.home;
    adoption_.limits = plan_.limits;
    ASSERT_EQ(::read(told[0], &adoption_.pid, sizeof(int)), ssize_t{sizeof(int)});
    adoption_.pid_start = sys::start_time_of(adoption_.pid);
    ::kill(parent, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(parent, &status, 0), parent);
    ::close(told[0]);
  }

  bool lives() const { return testing::lives(adoption_.pid, adoption_.pid_start); }

  static bool answers(Sandbox& sandbox) {
    AgentClient client(sandbox.stream().get());
    return client.hello().ok() && client.resume().ok() && client.run({"/usr/bin/true"}).ok();
  }

  SandboxPlan plan_;
  Adoption adoption_;
};

TEST_F(ContainerLeased, GoesOnWithoutItsStarterAndIsTakenOver) {
  start_elsewhere(Adopted::yes);
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  ASSERT_TRUE(lives());
  auto adopted = backend().adopt(adoption_);
  ASSERT_TRUE(adopted.ok()) << adopted.error().describe();
  EXPECT_EQ(sys::pid_of((*adopted)->agent()), adoption_.pid);
  EXPECT_TRUE(answers(**adopted));
  EXPECT_FALSE((*adopted)->oom_killed());
  EXPECT_TRUE((*adopted)->limits_hit().empty());
  if ((*adopted)->freeze().ok()) {
    EXPECT_TRUE((*adopted)->thaw().ok());
  }
  ASSERT_TRUE((*adopted)->destroy().ok());
  EXPECT_TRUE(within(5000, [&] { return !lives(); }));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           "/sys/fs/cgroup", std::filesystem::directory_options::skip_permission_denied)) {
    EXPECT_EQ(entry.path().string().find("paddock-" + plan_.id.str()), std::string::npos);
  }
}

TEST_F(ContainerLeased, DiesWithItsStarterBeforeItIsAdopted) {
  start_elsewhere(Adopted::no);
  EXPECT_TRUE(within(5000, [&] {
    auto adopted = backend().adopt(adoption_);
    if (adopted.ok()) (*adopted)->let_go();
    return !adopted.ok() && adopted.error().code() == Code::not_found;
  }));
  EXPECT_TRUE(backend().reclaim(plan_.id).ok());
}

TEST_F(ContainerLeased, WhoeverLetsGoOfItLeavesItAsItIs) {
  start_elsewhere(Adopted::yes);
  for (int i = 0; i < 3; ++i) {
    auto adopted = backend().adopt(adoption_);
    ASSERT_TRUE(adopted.ok()) << adopted.error().describe();
    EXPECT_TRUE(answers(**adopted));
    (*adopted)->let_go();
    adopted->reset();
    EXPECT_TRUE(lives());
  }
  auto adopted = backend().adopt(adoption_);
  ASSERT_TRUE(adopted.ok());
  adopted->reset();  // not let go
  EXPECT_TRUE(within(5000, [&] { return !lives(); }));
}

TEST_F(ContainerLeased, AnotherProcessWithItsNumberIsNotTakenForIt) {
  start_elsewhere(Adopted::yes);
  Adoption other = adoption_;
  other.pid_start += 1;
  EXPECT_EQ(backend().adopt(other).error().code(), Code::not_found);
  other = adoption_;
  other.pid = ::getpid();
  EXPECT_EQ(backend().adopt(other).error().code(), Code::not_found);
  EXPECT_TRUE(lives());
  EXPECT_TRUE(backend().adopt(adoption_).ok());  // and destroyed
}

TEST_F(ContainerLeased, WhatItHoldsIsLockedWhileItLives) {
  const std::string path = plan_.state_dir.str() + "/lock";
  {
    auto lock = sys::lock_path(path, sys::LockMode::shared, sys::LockWait::no);
    ASSERT_TRUE(lock.ok());
    plan_.held = {lock->get()};
    start_elsewhere(Adopted::yes);
  }
  auto is_free = [&] {
    return sys::lock_path(path, sys::LockMode::exclusive, sys::LockWait::no).ok();
  };
  EXPECT_FALSE(is_free());
  auto adopted = backend().adopt(adoption_);
  ASSERT_TRUE(adopted.ok());
  AgentClient client((*adopted)->stream().get());
  ASSERT_TRUE(client.hello().ok() && client.resume().ok());
  auto command = client.run(wire::testing::shell("ls /proc/self/fd"));
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->out, "0\n1\n2\n3\n") << "commands do not hold it";
  ASSERT_TRUE((*adopted)->destroy().ok());
  EXPECT_TRUE(within(5000, is_free));
}

}  // namespace
}  // namespace paddock::isolation::testing
