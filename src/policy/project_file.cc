#include "policy/project_file.h"

#include <fmt/core.h>

#include <map>

#include "base/strings.h"
#include "policy/policy_text.h"
#include "policy/profiles.h"
#include "policy/value.h"

namespace paddock::policy {
namespace {

constexpr std::string_view kHead =
    "# How the code of this project runs in a sandbox. This file can only narrow what the user "
    "and\n"
    "# the administrator of the machine allow; `paddock policy explain` shows what is in force.\n";

std::string section_of(std::string_view key) {
  size_t dot = key.find('.');
  return dot == std::string_view::npos ? "" : std::string(key.substr(0, dot));
}

Result<std::map<std::string, Value>> values_of(const ShippedProfile& profile) {
  Tier tier{TierKind::shipped, std::string(profile.name), std::string(profile.text)};
  PolicyText text = PD_TRY(read_policy(tier, ""));
  std::map<std::string, Value> values;
  for (const Assignment& assignment : text.values) {
    values[std::string(assignment.setting->key)] = assignment.value;
  }
  return values;
}

// A list that adds up starts empty: repeating what is always in force would say nothing.
std::string commented(const Setting& setting, std::string_view name) {
  Value shipped = setting.access.get(model::Settings{});
  bool adds = setting.order == Order::more_entries;
  std::string always;
  if (adds && shipped != Value(List{})) {
    always = fmt::format("# Always: {}\n", format_value(setting, shipped));
  }
  return fmt::format("{}#{} = {}\n", always, name, adds ? "[]" : format_value(setting, shipped));
}

std::string lines_of(const Setting& setting, const std::map<std::string, Value>& values) {
  std::string section = section_of(setting.key);
  std::string_view name = setting.key.substr(section.empty() ? 0 : section.size() + 1);
  std::string text = fmt::format("# {}\n", setting.doc);
  if (!setting.choices.empty()) {
    List names(setting.choices.begin(), setting.choices.end());
    text += fmt::format("# From the widest to the narrowest: {}.\n", join(names, ", "));
  }
  auto found = values.find(std::string(setting.key));
  if (found == values.end()) return text + commented(setting, name);
  return text + fmt::format("{} = {}\n", name, format_value(setting, found->second));
}

}  // namespace

Result<std::string> make_project_file(std::string_view profile) {
  std::map<std::string, Value> values;
  std::string text(kHead);
  if (!profile.empty()) {
    const ShippedProfile* found = find_shipped_profile(profile);
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const ShippedProfile& row : shipped_profiles()) names.emplace_back(row.name);
      return Error(Code::not_found, fmt::format("there is no profile '{}'", printable(profile)))
          .set_remedy("the profiles are " + join(names, ", "));
    }
    values = PD_TRY(values_of(*found));
    text += fmt::format("#\n# Profile {}. {}\n", found->name, found->fear);
  }
  std::string section;
  for (const Setting& setting : settings()) {
    if (setting.project == ProjectTier::may_not_set || setting.order == Order::of_its_parts)
      continue;
    if (section_of(setting.key) != section) {
      section = section_of(setting.key);
      text += fmt::format("\n[{}]\n", section);
    } else {
      text += "\n";
    }
    text += lines_of(setting, values);
  }
  return text;
}

}  // namespace paddock::policy
