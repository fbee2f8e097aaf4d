// Policy files are written by the code that is to be confined. Seeds: fuzz_seeds/policy/.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/strings.h"
#include "base/testing/fuzz.h"
#include "policy/level_choice.h"
#include "policy/narrowing.h"
#include "policy/testing/policies.h"
#include "policy/testing/policy_check.h"

namespace paddock::policy::testing {
namespace {

constexpr size_t kParts = 4;
constexpr std::string_view kSeparator = "----";

std::array<std::string, kParts> split_input(std::string_view input) {
  std::array<std::string, kParts> parts;
  size_t at = 0;
  for (const std::string& line : split(input, '\n')) {
    if (line == kSeparator && at + 1 < kParts) {
      ++at;
    } else {
      parts[at] += line + "\n";
    }
  }
  return parts;
}

std::vector<FlagValue> flags_of(const std::string& text) {
  std::vector<FlagValue> flags;
  for (const std::string& line : split(text, '\n')) {
    size_t equals = line.find('=');
    if (equals != std::string::npos)
      flags.push_back({line.substr(0, equals), line.substr(equals + 1)});
  }
  return flags;
}

std::string check_not_wider(const model::Settings& candidate, const model::Settings& limit) {
  for (const Setting& setting : policy::settings()) {
    Value value = setting.access.get(candidate);
    auto wider = wider_part(setting, value, setting.access.get(limit), Coverage::same);
    if (wider) return "the project widened " + std::string(setting.key) + " to " + *wider;
    bool fixed = setting.project == ProjectTier::may_not_set;
    if (fixed && value != setting.access.get(limit))
      return "the project set " + std::string(setting.key);
  }
  auto before = resolve_level(limit);
  auto after = resolve_level(candidate);
  if (before.ok() && after.ok() && after->level < before->level)
    return "the project lowered the level";
  return "";
}

std::string check_bounds(const Compiled& compiled) {
  for (const auto& [key, bound] : compiled.bounds) {
    const Setting& setting = *find_setting(key);
    Value value = setting.access.get(compiled.settings);
    auto wider = wider_part(setting, value, bound.value, Coverage::within);
    if (wider) return key + " got past its bound: " + *wider;
  }
  return "";
}

// What is printed reads back: a user tier that says all of it compiles to the same.
std::string check_text(const model::Settings& settings) {
  bool is_text = is_valid_utf8(dump(settings));
  auto again = compile_tiers({user(dump(settings))});
  if (!again.ok()) return is_text ? "not read back: " + again.error().describe() : "";
  model::Settings expected = settings;
  for (const std::string& shipped : model::FileRules{}.hide) {
    auto& hide = expected.files.hide;
    if (std::find(hide.begin(), hide.end(), shipped) == hide.end()) hide.push_back(shipped);
  }
  return dump(again->settings) == dump(expected) ? "" : "printed settings read back as others";
}

}  // namespace

std::string check_policy_input(std::string_view input) {
  auto [admin_text, user_text, project_text, flag_text] = split_input(input);
  std::vector<Tier> tiers{admin(admin_text), user(user_text)};
  auto above = compile_tiers(tiers);
  tiers.push_back(project(project_text));
  auto with_project = compile_tiers(tiers);
  if (!above.ok()) return with_project.ok() ? "a project repaired the tiers above it" : "";
  std::string broken = check_bounds(*above);
  if (broken.empty() && with_project.ok()) {
    broken = check_not_wider(with_project->settings, above->settings);
  }
  auto with_flags = compile_tiers(tiers, flags_of(flag_text));
  if (broken.empty() && with_flags.ok()) broken = check_bounds(*with_flags);
  const auto& last = with_flags.ok() ? with_flags : with_project.ok() ? with_project : above;
  return broken.empty() ? check_text(last->settings) : broken;
}

}  // namespace paddock::policy::testing

PD_FUZZ_TARGET(policy) {
  const std::string broken = paddock::policy::testing::check_policy_input(bytes);
  if (broken.empty()) return;
  std::fprintf(stderr, "%s\n", broken.c_str());
  std::abort();
}
