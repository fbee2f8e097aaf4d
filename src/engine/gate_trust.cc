#include "engine/gate_trust.h"

#include "engine/ssh_trust.h"
#include "sys/files.h"

namespace paddock::engine {
namespace {

constexpr const char* kTrustInside = "/run/paddock/ca.pem";
constexpr const char* kSystemBundle = "/etc/ssl/certs/ca-certificates.crt";

}  // namespace

Status add_trust(Network& network, RunPlan& plan) {
  const model::HostPath bundle = plan.sandbox.state_dir / "ca.pem";
  const std::string trusted = PD_TRY(network.trust_bundle());
  PD_TRY(sys::replace_file(bundle.str(), trusted, 0644));
  auto& binds = plan.sandbox.files.binds;
  binds.push_back({model::GuestPath(kTrustInside), bundle, model::Access::read_only});
  const std::string& root = plan.decision.root_template;
  if (sys::exists((root == "host" ? "" : root) + kSystemBundle))
    binds.push_back({model::GuestPath(kSystemBundle), bundle, model::Access::read_only});
  set_variables(plan.environment, trust_variables(kTrustInside), Present::kept);
  return {};
}

Status add_ssh_trust(egress::Gate& gate, RunPlan& plan) {
  const model::HostPath file = plan.sandbox.state_dir / "known_hosts";
  const std::string key = PD_TRY(gate.ssh_host_key());
  PD_TRY(sys::replace_file(file.str(), known_hosts_text(plan.egress.ssh_hosts, key), 0644));
  plan.sandbox.files.binds.push_back(
      {model::GuestPath(kKnownHostsInside), file, model::Access::read_only});
  return {};
}

}  // namespace paddock::engine
