#include "isolation/testing/conformance.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "isolation/handshake.h"

namespace paddock::isolation::testing {
namespace {

constexpr int kAgentMs = 20'000;
constexpr int kSoonMs = 5'000;

bool becomes_readable(int fd, int within_ms) {
  struct pollfd ready {
    fd, POLLIN, 0
  };
  return ::poll(&ready, 1, within_ms) == 1;
}

sys::Fd copy_of(const sys::Fd& fd) {
  return sys::Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
}

}  // namespace

void BackendConformance::SetUp() {
  std::string why_not = GetParam()->why_not ? GetParam()->why_not() : "";
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  backend_ = GetParam()->make_backend();
}

std::unique_ptr<Sandbox> BackendConformance::must_start(const SandboxPlan& plan) {
  auto started = backend_->start(plan);
  EXPECT_TRUE(started.ok()) << started.error().describe() << " [" << started.error().remedy()
                            << "]";
  return started.ok() ? std::move(started).value() : nullptr;
}

TEST_P(BackendConformance, TheSandboxHasTheControlsThatWereDecided) {
  SandboxPlan plan = GetParam()->make_plan();
  auto decided = backend_->decide(plan);
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  ASSERT_EQ(sandbox->controls().size(), decided.size());
  for (size_t i = 0; i < decided.size(); ++i) {
    EXPECT_EQ(sandbox->controls()[i].name, decided[i].name);
    EXPECT_EQ(sandbox->controls()[i].state, decided[i].state) << decided[i].name;
    EXPECT_FALSE(decided[i].detail.empty()) << decided[i].name;
  }
}

TEST_P(BackendConformance, TheAgentsEvidenceHolds) {
  auto sandbox = must_start(GetParam()->make_plan());
  ASSERT_NE(sandbox, nullptr);
  auto evidence = introduce(*sandbox, kAgentMs);
  ASSERT_TRUE(evidence.ok()) << evidence.error().describe();
  auto mismatches = sandbox->check(*evidence);
  EXPECT_TRUE(mismatches.empty()) << mismatches.front();
}

TEST_P(BackendConformance, EvidenceThatSaysNothingIsAMismatch) {
  auto sandbox = must_start(GetParam()->make_plan());
  ASSERT_NE(sandbox, nullptr);
  EXPECT_FALSE(sandbox->check({}).empty());
}

TEST_P(BackendConformance, SetUpAndConfinementFollowThePlan) {
  SandboxPlan plan = GetParam()->make_plan();
  plan.limits.open_files = 77;
  auto sandbox = must_start(plan);
  ASSERT_NE(sandbox, nullptr);
  EXPECT_TRUE(sandbox->setup().bound());
  wire::Start start;
  sandbox->confine(start);
  std::map<int, uint64_t> limits;
  for (const auto& limit : start.limits()) limits[limit.resource()] = limit.value();
  EXPECT_EQ(limits[RLIMIT_NOFILE], 77u);
}

TEST_P(BackendConformance, DestroyEndsTheAgentAndItsStream) {
  auto sandbox = must_start(GetParam()->make_plan());
  ASSERT_NE(sandbox, nullptr);
  sys::Fd agent = copy_of(sandbox->agent());
  sys::Fd stream = copy_of(sandbox->stream());
  EXPECT_FALSE(becomes_readable(agent.get(), 0)) << "it lives";
  ASSERT_TRUE(sandbox->destroy().ok());
  EXPECT_TRUE(becomes_readable(agent.get(), kSoonMs));
  char buffer[4096];
  ssize_t n = 1;
  while (n > 0 && becomes_readable(stream.get(), kSoonMs))
    n = ::read(stream.get(), buffer, sizeof buffer);
  EXPECT_LE(n, 0);
  EXPECT_TRUE(sandbox->destroy().ok()) << "twice is the same";
  (void)sandbox->usage();
  (void)sandbox->limits_hit();
  EXPECT_FALSE(sandbox->oom_killed());
}

TEST_P(BackendConformance, ASandboxThatIsDroppedIsDestroyed) {
  auto sandbox = must_start(GetParam()->make_plan());
  ASSERT_NE(sandbox, nullptr);
  sys::Fd agent = copy_of(sandbox->agent());
  sandbox.reset();
  EXPECT_TRUE(becomes_readable(agent.get(), kSoonMs));
}

TEST_P(BackendConformance, TheAgentsDeathShowsOnItsDescriptor) {
  auto sandbox = must_start(GetParam()->make_plan());
  ASSERT_NE(sandbox, nullptr);
  auto evidence = introduce(*sandbox, kAgentMs);
  ASSERT_TRUE(evidence.ok()) << evidence.error().describe();
  EXPECT_FALSE(becomes_readable(sandbox->agent().get(), 50)) << "it stays while it is wanted";
}

TEST_P(BackendConformance, AFrozenAgentAnswersOnlyWhenItIsThawed) {
  auto sandbox = must_start(GetParam()->make_plan());
  ASSERT_NE(sandbox, nullptr);
  // Past its introduction, which it may be about to send.
  ASSERT_TRUE(becomes_readable(sandbox->stream().get(), kAgentMs));
  Status frozen = sandbox->freeze();
  if (!frozen.ok()) {
    EXPECT_EQ(frozen.error().code(), Code::unsupported);
    EXPECT_FALSE(frozen.error().remedy().empty());
    return;
  }
  auto silent = introduce(*sandbox, 300);
  ASSERT_FALSE(silent.ok());
  EXPECT_EQ(silent.error().code(), Code::timed_out);
  ASSERT_TRUE(sandbox->thaw().ok());
  EXPECT_TRUE(becomes_readable(sandbox->stream().get(), kAgentMs)) << "the answer comes now";
}

TEST_P(BackendConformance, TwoSandboxesLiveSideBySide) {
  auto one = must_start(GetParam()->make_plan());
  auto other = must_start(GetParam()->make_plan());
  ASSERT_TRUE(one && other);
  ASSERT_TRUE(one->destroy().ok());
  EXPECT_TRUE(introduce(*other, kAgentMs).ok());
}

TEST_P(BackendConformance, ReclaimingWhatIsNotThereIsDone) {
  SandboxPlan plan = GetParam()->make_plan();
  EXPECT_TRUE(backend_->reclaim(plan.id).ok());
  EXPECT_TRUE(backend_->reclaim(plan.id).ok());
}

TEST_P(BackendConformance, EveryProbeSaysHowItWasProvedAndWhatToDoOtherwise) {
  auto probes = backend_->probe();
  ASSERT_FALSE(probes.empty());
  EXPECT_EQ(probes.front().name, name_of(model::kLevelNames, backend_->level()));
  for (const Probe& probe : probes) {
    EXPECT_FALSE(probe.proof.empty()) << probe.name;
    bool holds = probe.state == model::ControlState::enforced;
    EXPECT_TRUE(holds || !probe.remedy.empty()) << probe.name;
  }
}

}  // namespace paddock::isolation::testing
