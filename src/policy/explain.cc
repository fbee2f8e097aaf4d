#include "policy/explain.h"

#include <fmt/core.h>

#include "base/strings.h"
#include "policy/egress_text.h"
#include "policy/value.h"

namespace paddock::policy {
namespace {

std::string origins_of(const Compiled& compiled, const std::string& key) {
  std::vector<std::string> texts;
  for (const Origin& origin : compiled.origins.at(key)) texts.push_back(describe(origin));
  return join(texts, " + ");
}

std::string bound_of(const Compiled& compiled, const Setting& setting) {
  auto found = compiled.bounds.find(std::string(setting.key));
  if (found == compiled.bounds.end()) return "";
  return fmt::format("{} ({})", format_value(setting, found->second.value),
                     describe(found->second.origin));
}

void add_state(const std::vector<model::Control>& controls, std::string_view name,
               Explanation& row) {
  for (const model::Control& control : controls) {
    if (name.empty() || control.name != name) continue;
    row.state = control.state;
    row.detail = control.detail;
  }
}

}  // namespace

std::vector<Explanation> explain(const Compiled& compiled,
                                 const std::vector<model::Control>& controls) {
  std::vector<Explanation> rows;
  for (const Setting& setting : settings()) {
    std::string key(setting.key);
    Explanation row{.key = key,
                    .value = format_value(setting, setting.access.get(compiled.settings)),
                    .origin = origins_of(compiled, key),
                    .bound = bound_of(compiled, setting),
                    .doc = std::string(setting.doc),
                    .state = std::nullopt,
                    .detail = {}};
    add_state(controls, setting.control, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Explanation> explain_egress(const Compiled& compiled) {
  const model::EgressSettings& egress = compiled.settings.egress;
  std::vector<Explanation> rows;
  auto add = [&](std::string key, const auto& entry, std::string_view doc) {
    if (!entry.name.empty()) key += "." + entry.name;
    rows.push_back({.key = std::move(key),
                    .value = describe(entry),
                    .origin = entry.origin,
                    .bound = {},
                    .doc = std::string(doc),
                    .state = std::nullopt,
                    .detail = {}});
  };
  for (const auto* list : {&egress.first, &egress.rules}) {
    for (const auto& rule : *list) add("egress.rule", rule, "The first rule that matches decides.");
  }
  for (const auto& rule : egress.narrowing) {
    add("egress.rule", rule, "The project's: what other rules grant, this list must grant too.");
  }
  for (const auto& credential : egress.credentials) {
    add("credential", credential, "Put on by the gate; inside there is a placeholder.");
  }
  return rows;
}

}  // namespace paddock::policy
