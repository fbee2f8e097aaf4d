// A running container.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isolation/backend.h"
#include "isolation/container/evidence_check.h"
#include "isolation/container/host_facts.h"
#include "isolation/container/launch.h"

namespace paddock::isolation::container {

class ContainerSandbox : public Sandbox {
 public:
  ContainerSandbox(const SandboxPlan& plan, const HostFacts& facts, Launched launched);
  // One that another process started.
  ContainerSandbox(const Adoption& adoption, const HostFacts& facts, Launched launched);
  ~ContainerSandbox() override;

  const sys::SocketFd& stream() const override { return launched_.stream; }
  const sys::PidFd& agent() const override { return launched_.agent.pidfd(); }
  wire::Setup setup() const override;
  std::vector<std::string> check(const wire::Evidence& evidence) const override;
  void confine(wire::Start& start) const override;
  const std::vector<model::Control>& controls() const override { return controls_; }
  std::vector<model::Denial> limits_hit() override;
  bool oom_killed() override;
  model::Usage usage() override;
  model::Control pausing() const override;
  Status freeze() override;
  Status thaw() override;
  Status replace_files(const model::FileSystem& files) override;
  Status destroy() override;
  void let_go() override;

 private:
  // What the cgroups counted; the last word is kept when they go.
  struct Counters {
    std::vector<model::Denial> limits_hit;
    bool oom_killed = false;
    model::Usage usage;
  };
  Counters read_counters() const;
  Counters counters() const { return destroyed_ ? last_counters_ : read_counters(); }

  SandboxPlan plan_;
  HostFacts facts_;
  uint32_t uid_ = 0;  // of commands, inside
  uint32_t gid_ = 0;
  std::vector<model::Control> controls_;
  Launched launched_;
  std::optional<wire::Start> confinement_;  // on record
  bool destroyed_ = false;
  Counters last_counters_;
};

}  // namespace paddock::isolation::container
