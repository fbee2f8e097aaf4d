#include "policy/egress_lists.h"

#include <utility>

#include "model/egress_table.h"

namespace paddock::policy {
namespace {

using Rules = std::vector<model::EgressRule>;

void append(Rules& list, const Rules& more) {
  list.insert(list.end(), more.begin(), more.end());
}

Result<Rules> allowed_by_name(const model::EgressSettings& settings) {
  Rules rules;
  for (const std::string& host : settings.allow) {
    rules.push_back(PD_TRY_CTX("allowing " + host, model::read_allow_flag(host)));
    rules.back().origin = "egress.allow";
  }
  return rules;
}

}  // namespace

Result<model::EgressPolicy> egress_lists(const model::EgressSettings& settings,
                                         const Rules& of_presets) {
  const Rules by_name = PD_TRY(allowed_by_name(settings));
  model::EgressPolicy policy{.lists = {settings.first}, .credentials = settings.credentials};
  append(policy.lists[0], by_name);
  append(policy.lists[0], settings.rules);
  append(policy.lists[0], of_presets);
  if (settings.narrowing.empty()) return policy;
  Rules narrowing = by_name;
  append(narrowing, of_presets);
  append(narrowing, settings.narrowing);
  policy.lists.push_back(std::move(narrowing));
  return policy;
}

}  // namespace paddock::policy
