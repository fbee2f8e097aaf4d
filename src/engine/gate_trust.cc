#include "engine/gate_trust.h"

#include "engine/passing_file.h"
#include "engine/ssh_trust.h"
#include "engine/trust_stores.h"

namespace paddock::engine {

Status add_trust(Network& network, RunPlan& plan) {
  const std::string& root = plan.decision.root_template;
  TrustRequest trust;
  trust.bundle = PD_TRY(network.trust_bundle());
  trust.state_dir = plan.sandbox.state_dir;
  if (root != "host") trust.root = root;
  const auto variables = PD_TRY(show_trust(trust, plan.sandbox.files));
  set_variables(plan.environment, variables, Present::kept);
  return {};
}

Status add_ssh_trust(egress::Gate& gate, RunPlan& plan) {
  const model::HostPath file = plan.sandbox.state_dir / "known_hosts";
  const std::string key = PD_TRY(gate.ssh_host_key());
  PD_TRY(write_passing_file(file, known_hosts_text(plan.egress.ssh_hosts, key)));
  plan.sandbox.files.binds.push_back(
      {model::GuestPath(kKnownHostsInside), file, model::Access::read_only});
  return {};
}

}  // namespace paddock::engine
