#include "isolation/testing/fake_backend.h"

#include <gtest/gtest.h>

#include "isolation/handshake.h"
#include "isolation/testing/conformance.h"
#include "sys/random.h"

namespace paddock::isolation::testing {
namespace {

SandboxPlan plan() {
  SandboxPlan out;
  out.id = model::SandboxId::from_entropy(sys::random_bytes(8));
  return out;
}

const Subject kFake{[] { return std::make_unique<FakeBackend>(); }, plan, {}};
INSTANTIATE_TEST_SUITE_P(Fake, BackendConformance, ::testing::Values(&kFake));

TEST(FakeBackend, TellsWhatItWasAskedFor) {
  FakeBackend backend;
  SandboxPlan wanted = plan();
  ASSERT_TRUE(backend.start(wanted).ok());
  ASSERT_TRUE(backend.reclaim(wanted.id).ok());
  ASSERT_EQ(backend.started().size(), 1u);
  EXPECT_EQ(backend.started()[0].id, wanted.id);
  EXPECT_EQ(backend.reclaimed(), std::vector{wanted.id});
}

TEST(FakeBackend, CanRefuseToStartAndForgeItsEvidence) {
  FakeOptions refusing;
  refusing.before_start = [](const SandboxPlan&) -> Status {
    return Error(Code::unsupported, "no");
  };
  EXPECT_FALSE(FakeBackend(refusing).start(plan()).ok());
  FakeOptions forging;
  forging.evidence = FakeOptions::Evidence::forged;
  FakeBackend backend(forging);
  auto sandbox = backend.start(plan());
  ASSERT_TRUE(sandbox.ok());
  auto evidence = introduce(**sandbox, 5000);
  ASSERT_TRUE(evidence.ok());
  EXPECT_FALSE((*sandbox)->check(*evidence).empty());
}

}  // namespace
}  // namespace paddock::isolation::testing
