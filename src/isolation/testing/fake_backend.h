// A backend without isolation, for tests of who uses one: the agent is a thread that introduces
// itself, answers Setup with good evidence and hands everything else to a script.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "isolation/backend.h"
#include "wire/channel.h"

namespace paddock::isolation::testing {

// Runs on the agent's thread, for every message but Setup.
using Script = std::function<void(const wire::ToAgent&, wire::AgentChannel&)>;

struct FakeOptions {
  Script script;
  std::vector<model::Control> controls{
      {"network", model::ControlState::enforced, "there is none in a test"}};
  std::vector<model::Denial> limits_hit;
  // Makes start() fail, or the evidence false.
  std::function<Status(const SandboxPlan&)> before_start;
  enum class Evidence { good, forged } evidence = Evidence::good;
};

// Used by one thread. Sandboxes must not outlive it.
class FakeBackend : public Backend {
 public:
  explicit FakeBackend(FakeOptions options = {}) : options_(std::move(options)) {}

  model::Level level() const override { return model::Level::container; }
  std::vector<Probe> probe() override;
  std::vector<model::Control> decide(const SandboxPlan&) override { return options_.controls; }
  Result<std::unique_ptr<Sandbox>> start(const SandboxPlan& plan) override;
  Result<std::unique_ptr<Sandbox>> adopt(const Adoption&) override;
  Status reclaim(const model::SandboxId& id) override;

  const std::vector<SandboxPlan>& started() const { return started_; }
  const std::vector<model::SandboxId>& reclaimed() const { return reclaimed_; }

 private:
  FakeOptions options_;
  std::vector<SandboxPlan> started_;
  std::vector<model::SandboxId> reclaimed_;
};

}  // namespace paddock::isolation::testing
