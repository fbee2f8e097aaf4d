#include "policy/project_file.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "policy/profiles.h"
#include "policy/testing/policies.h"

namespace paddock::policy {
namespace {

using namespace testing;  // NOLINT: the helpers of policy/testing

model::Settings compiled(const Tier& tier) {
  auto result = compile_tiers({tier});
  EXPECT_TRUE(result.ok()) << result.error().describe() << "\n" << tier.text;
  return result.ok() ? result->settings : model::Settings{};
}

TEST(ProjectFile, ReadsBackToTheValuesOfItsProfile) {
  for (const ShippedProfile& profile : shipped_profiles()) {
    std::string text = make_project_file(profile.name).value();
    EXPECT_EQ(dump(compiled(project(text))), dump(compiled(project(std::string(profile.text)))));
    EXPECT_EQ(dump(compiled(project(text))),
              dump(compiled(project("profile = \"" + std::string(profile.name) + "\""))));
  }
}

// Against a user who gives everything, each profile takes the host away again.
TEST(ProjectFile, EveryProfileDropsTheGrantsAndKeepsTheView) {
  Tier generous = user("mounts = [\"/a:/b\"]\nfiles.write = [\"/c\"]\nworkspace.mode = \"direct\"");
  for (const ShippedProfile& profile : shipped_profiles()) {
    auto result = compile_tiers({generous, project(make_project_file(profile.name).value())});
    ASSERT_TRUE(result.ok()) << result.error().describe();
    EXPECT_TRUE(result->settings.mounts.empty());
    EXPECT_TRUE(result->settings.files.write.empty());
    EXPECT_EQ(result->settings.mode, model::WorkspaceMode::overlay);
  }
}

TEST(ProjectFile, WithoutAProfileItSetsNothing) {
  EXPECT_EQ(dump(compiled(project(make_project_file("").value()))), dump(model::Settings{}));
}

TEST(ProjectFile, EveryCommentedLineIsTheShippedValue) {
  std::string uncommented;
  size_t settings_seen = 0;
  for (std::string line : split(make_project_file("").value(), '\n')) {
    if (line.size() > 1 && line[0] == '#' && line[1] != ' ') {
      line.erase(0, 1);
      ++settings_seen;
    }
    uncommented += line + "\n";
  }
  EXPECT_EQ(dump(compiled(project(uncommented))), dump(model::Settings{}));
  size_t settable = 0;
  for (const Setting& setting : settings()) {
    settable += setting.project == ProjectTier::may_narrow && setting.key != "profile";
  }
  EXPECT_EQ(settings_seen, settable);
}

TEST(ProjectFile, AnUnknownProfileIsRefusedWithTheKnownOnes) {
  auto result = make_project_file("nope");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().remedy(), "the profiles are edit, ci, untrusted");
}

}  // namespace
}  // namespace paddock::policy
