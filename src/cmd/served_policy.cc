#include "cmd/served_policy.h"

#include <utility>

namespace paddock::cmd {
namespace {

bool says_what_leaves(const policy::Compiled& compiled) {
  const model::EgressSettings& egress = compiled.settings.egress;
  if (!egress.allows_nothing() || !egress.first.empty() || !egress.rules.empty()) return true;
  for (const char* key : {"egress.presets", "egress.allow"}) {
    const auto found = compiled.origins.find(key);
    if (found == compiled.origins.end()) continue;
    for (const policy::Origin& origin : found->second) {
      if (origin.tier != policy::TierKind::shipped) return true;
    }
  }
  return false;
}

}  // namespace

Result<engine::LivePolicy> served_policy(const ServeArgs& args, const Context& context,
                                         const model::HostPath& workspace) {
  engine::LivePolicy policy{PD_TRY(context.settings(workspace, args.flags))};
  if (says_what_leaves(policy.compiled)) return policy;
  std::vector<policy::FlagValue> flags = args.flags;
  flags.push_back({"egress.presets", "package-registries"});
  auto wider = context.settings(workspace, flags);
  if (!wider.ok()) return policy;
  policy.compiled = std::move(*wider);
  policy.egress = engine::EgressWord::shipped;
  return policy;
}

}  // namespace paddock::cmd
