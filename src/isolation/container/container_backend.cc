#include "isolation/container/container_backend.h"

#include <utility>

#include "isolation/container/cgroups.h"
#include "isolation/container/container_sandbox.h"
#include "isolation/container/controls.h"
#include "isolation/container/host_facts.h"
#include "isolation/container/launch.h"
#include "isolation/container/probe.h"
#include "isolation/container/take_over.h"

namespace paddock::isolation::container {
namespace {

class ContainerBackend : public Backend {
 public:
  model::Level level() const override { return model::Level::container; }

  std::vector<Probe> probe() override { return probe_host(*this, facts_); }

  std::vector<model::Control> decide(const SandboxPlan& plan) override {
    return decide_controls(plan, facts_);
  }

  Result<std::unique_ptr<Sandbox>> start(const SandboxPlan& plan) override {
    Launched launched = PD_TRY_CTX("starting a container", launch(plan, facts_));
    return std::unique_ptr<Sandbox>(
        std::make_unique<ContainerSandbox>(plan, facts_, std::move(launched)));
  }

  Result<std::unique_ptr<Sandbox>> adopt(const Adoption& adoption) override {
    Launched launched = PD_TRY_CTX("taking over a container", take_over(adoption, facts_));
    return std::unique_ptr<Sandbox>(
        std::make_unique<ContainerSandbox>(adoption, facts_, std::move(launched)));
  }

  Status reclaim(const model::SandboxId& id) override {
    return SandboxCgroups::reclaim(facts_.cgroups, id);
  }

 private:
  const HostFacts facts_ = read_host_facts();
};

}  // namespace

std::unique_ptr<Backend> make_container_backend() {
  return std::make_unique<ContainerBackend>();
}

}  // namespace paddock::isolation::container
