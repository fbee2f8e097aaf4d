// Hosts that are allowed or denied while a sandbox runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "egress/gate.h"
#include "engine/change_request.h"
#include "engine/egress_plan.h"
#include "engine/host_words.h"
#include "engine/network.h"
#include "policy/compile.h"
#include "wire/agent.pb.h"

namespace paddock::engine {

// What the sandbox began with, and what its agent's table lets through to the gate.
struct RuleChangesParts {
  const policy::Compiled& policy;
  std::vector<model::EgressRule> of_presets;
  egress::SandboxRules rules;  // their policy alone is ever replaced
  wire::Egress egress;
  NetworkSession& session;
};

// Denials that are said while it runs come before everything. Allowing a host takes back a denial
// of the same text, and the other way round. Used by one thread; policy and session outlive it.
class RuleChanges {
 public:
  explicit RuleChanges(RuleChangesParts parts) : parts_(std::move(parts)) {}

  // Changes the rules at the gate, closes connections that they no longer allow, and puts it on
  // record. invalid_argument: no host. permission_denied: past a bound of the administrator, or
  // refused by a rule that comes first, so that allowing it would change nothing.
  // failed_precondition: an address that the sandbox's table does not lead to the gate.
  Result<std::string> apply(const ChangeRequest& request);

 private:
  Status check(const ChangeRequest& request, const model::EgressRule& rule) const;
  Result<std::shared_ptr<const egress::Policy>> compile(const HostWords& said) const;
  void note(const ChangeRequest& request);

  RuleChangesParts parts_;
  HostWords said_;
};

}  // namespace paddock::engine
