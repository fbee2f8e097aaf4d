// From policy to what the gate is told of one sandbox, and what its programs find inside. All
// refusals come before anything exists.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "egress/gate.h"
#include "egress/presets/registries.h"
#include "model/decision.h"
#include "model/ip_address.h"
#include "model/paths.h"
#include "model/settings.h"

namespace paddock::engine {

// Whether what policy does not name is let through and recorded, so that policy can be written.
enum class Learning { no, yes };

struct EgressRequest {
  const model::Settings& settings;
  const std::map<std::string, std::string>& caller_environment;
  model::HostPath caller_home;
  model::HostPath workspace;  // empty: none
  model::HostPath home;       // PADDOCK_HOME
  Learning learning = Learning::no;
};

using Variables = std::vector<std::pair<std::string, std::string>>;

struct EgressPlan {
  egress::SandboxRules rules;                 // without a policy: nothing leaves
  std::vector<model::EgressRule> of_presets;  // what they stand for here
  std::vector<model::Cidr> literals;   // addresses that programs may connect to by themselves
  bool opens_tls = false;              // of some host: programs must trust the authority
  std::vector<std::string> ssh_hosts;  // the gate is their ssh server, for git
  Variables placeholders;              // nothing else may set these
  Variables settings;                  // of package tools; what policy sets wins
  std::vector<std::string> grants;     // for the decision
  model::Control control;

  bool lets_out() const { return rules.policy != nullptr; }
};

// What policy lets out on this host, before a sandbox is named. Immutable: one serves many.
struct EgressSource {
  model::EgressPolicy policy;
  std::vector<model::EgressRule> of_presets{};        // in `policy`, too
  Variables settings;                                 // of package tools
  std::vector<egress::LoadedCredential> credentials;  // of use under these rules
  std::vector<std::string> known_hosts{};             // files that ssh's hosts are known by
  std::string nothing_because;                        // why no list is there, where that is news
};

// Reads secrets, and asks the host's tools where a preset wants it (they run in "/", so that no
// file of the workspace is theirs). invalid_argument, permission_denied: a rule that cannot hold.
// failed_precondition: a credential that cannot be had, or that the policy gives away as well.
Result<EgressPlan> make_egress_plan(const EgressRequest& request);

// The same in two steps: what takes long, and what each sandbox needs. Without lists nothing
// leaves.
Result<EgressSource> make_egress_source(const EgressRequest& request);
// `key` makes the placeholders: random, of one sandbox alone, and kept when its rules change.
Result<EgressPlan> plan_from(const EgressSource& source, std::string_view key);
std::string make_sandbox_key();

// Runs tools with the caller's environment, outside of any workspace.
egress::HostTools host_tools(const std::map<std::string, std::string>& environment,
                             const model::HostPath& home);

// Variables by which programs find the authorities that they trust, for a bundle at `path`.
Variables trust_variables(const std::string& path);

}  // namespace paddock::engine
