#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "policy/setting.h"

namespace paddock::policy {
namespace {

template <typename E, size_t N>
std::set<std::string> names_in(const EnumNames<E, N>& names) {
  std::set<std::string> out;
  for (const auto& row : names) out.emplace(row.name);
  return out;
}

std::set<std::string> choices_of(std::string_view key) {
  auto choices = find_setting(key)->choices;
  return {choices.begin(), choices.end()};
}

TEST(SettingsTable, KeysAndFlagsAreUniqueAndWellFormed) {
  std::set<std::string_view> seen;
  for (const Setting& setting : settings()) {
    EXPECT_TRUE(seen.insert(setting.key).second) << setting.key;
    EXPECT_LE(split(setting.key, '.').size(), 2u) << setting.key;
    EXPECT_EQ(setting.doc.back(), '.') << setting.key;
    EXPECT_EQ(find_setting(setting.key), &setting);
    if (setting.flag.empty()) continue;
    EXPECT_TRUE(seen.insert(setting.flag).second) << setting.flag;
    EXPECT_EQ(setting.flag.substr(0, 2), "--") << setting.flag;
    EXPECT_FALSE(placeholder(setting.shape).empty());
  }
}

// Keys of one section stand together: documentation and project file open a section once.
TEST(SettingsTable, SectionsAreNotInterleaved) {
  std::set<std::string> closed;
  std::string open = "-";
  for (const Setting& setting : settings()) {
    std::vector<std::string> parts = split(setting.key, '.');
    std::string section = parts.size() > 1 ? parts[0] : "";
    if (section == open) continue;
    EXPECT_TRUE(closed.insert(section).second) << setting.key;
    open = section;
  }
}

TEST(SettingsTable, ChoicesAreAllTheNamesThereAre) {
  EXPECT_EQ(choices_of("trust"), names_in(model::kTrustNames));
  EXPECT_EQ(choices_of("workspace.mode"), names_in(model::kWorkspaceModeNames));
  auto levels = names_in(model::kLevelNames);
  EXPECT_EQ(choices_of("accept.generated"), levels);
  levels.insert("auto");
  EXPECT_EQ(choices_of("level"), levels);
}

// The order of the choices is the order of the enums, which is what "further right" relies on.
TEST(SettingsTable, ChoicesAreListedFromTheWidestToTheNarrowest) {
  auto in_order = [](std::span<const std::string_view> choices, const auto& names) {
    return std::is_sorted(choices.begin(), choices.end(), [&](auto a, auto b) {
      return value_of(names, a).value() < value_of(names, b).value();
    });
  };
  EXPECT_TRUE(in_order(find_setting("trust")->choices, model::kTrustNames));
  EXPECT_TRUE(in_order(find_setting("accept.reviewed")->choices, model::kLevelNames));
  EXPECT_TRUE(in_order(find_setting("level")->choices.subspan(1), model::kLevelNames));
  EXPECT_EQ(find_setting("level")->choices[0], "auto");
  EXPECT_EQ(find_setting("workspace.mode")->choices[0], "direct");
  EXPECT_EQ(find_setting("workspace.mode")->choices[2], "none");
}

TEST(SettingsTable, ShippedValuesAreWithinTheirOwnRange) {
  for (const Setting& setting : settings()) {
    Value shipped = setting.access.get(model::Settings{});
    const auto* number = std::get_if<uint64_t>(&shipped);
    if (number == nullptr) continue;
    EXPECT_GT(setting.min, 0u) << setting.key << ": 0 would be read as no limit";
    bool unlimited = *number == 0 && !setting.unlimited.empty();
    EXPECT_TRUE(unlimited || (*number >= setting.min && *number <= setting.max)) << setting.key;
  }
}

TEST(SettingsTable, SettingAValueAndGettingItAgree) {
  for (const Setting& setting : settings()) {
    model::Settings settings;
    Value shipped = setting.access.get(settings);
    setting.access.set(settings, shipped);
    EXPECT_TRUE(setting.access.get(settings) == shipped) << setting.key;
  }
}

}  // namespace
}  // namespace paddock::policy
