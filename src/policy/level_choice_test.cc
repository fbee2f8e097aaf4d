#include "policy/level_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/testing/policies.h"

namespace paddock::policy {
namespace {

using model::Level;
using model::Settings;
using model::Trust;
using ::testing::HasSubstr;

constexpr std::array kAllTrusts{Trust::reviewed, Trust::generated, Trust::hostile};
constexpr std::array kAllLevels{Level::process, Level::container, Level::gvisor, Level::microvm};

TEST(LevelChoice, GeneratedCodeSharesTheKernelByShippedPolicyAndTheChoiceSaysSo) {
  LevelChoice choice = resolve_level(Settings{}).value();
  EXPECT_EQ(choice.level, Level::container);
  EXPECT_EQ(choice.accepted_by, "shipped policy");
}

TEST(LevelChoice, WithoutAcceptanceTheTrustDecides) {
  Settings settings;
  settings.accept.clear();
  for (Trust trust : kAllTrusts) {
    settings.trust = trust;
    LevelChoice choice = resolve_level(settings).value();
    EXPECT_EQ(choice.level, model::required_level(trust));
    EXPECT_EQ(choice.accepted_by, std::nullopt);
  }
}

TEST(LevelChoice, AskingForMoreIsNotAnAcceptance) {
  Settings settings;
  settings.level = Level::microvm;
  LevelChoice choice = resolve_level(settings).value();
  EXPECT_EQ(choice.level, Level::microvm);
  EXPECT_EQ(choice.accepted_by, std::nullopt);
}

TEST(LevelChoice, AWeakerLevelThanAcceptedIsRefusedWithTheRemedy) {
  Settings settings;
  settings.level = Level::process;
  Error error = resolve_level(settings).error();
  EXPECT_EQ(error.code(), Code::permission_denied);
  EXPECT_THAT(error.describe(), HasSubstr("level process is weaker than container"));
  EXPECT_THAT(error.remedy(), HasSubstr("accept.generated = \"process\""));
}

TEST(LevelChoice, HostileCodeIsNeverAcceptedLowerWhateverTheSettingsHold) {
  Settings settings;
  settings.trust = Trust::hostile;
  for (Level accepted : kAllLevels) {
    for (const auto& trust : kAllTrusts) settings.accept[trust] = accepted;
    settings.level.reset();
    EXPECT_EQ(resolve_level(settings).value().level, Level::microvm);
    settings.level = Level::gvisor;
    EXPECT_FALSE(resolve_level(settings).ok());
  }
  auto compiled = testing::compile_tiers({testing::admin("accept.hostile = \"container\"")});
  ASSERT_FALSE(compiled.ok());
  EXPECT_THAT(compiled.error().describe(), HasSubstr("expected microvm"));
}

TEST(LevelChoice, LessTrustedCodeNeverGetsLess) {
  for (Level reviewed : kAllLevels) {
    for (Level generated : kAllLevels) {
      Settings settings;
      settings.accept = {{Trust::reviewed, reviewed}, {Trust::generated, generated}};
      EXPECT_LE(weakest_level(settings, Trust::reviewed),
                weakest_level(settings, Trust::generated));
      EXPECT_LE(weakest_level(settings, Trust::generated), weakest_level(settings, Trust::hostile));
      EXPECT_GE(weakest_level(settings, Trust::generated), generated);
    }
  }
}

TEST(LevelChoice, TheAcceptingPolicyIsNamed) {
  auto compiled = testing::compile_tiers({testing::user("\naccept.generated = \"gvisor\"")});
  EXPECT_EQ(resolve_level(compiled.value().settings).value().accepted_by,
            "user policy /home/u/user.toml:2");
  // A project that asks for more has accepted nothing.
  compiled = testing::compile_tiers({testing::project("accept.generated = \"gvisor\"")});
  LevelChoice choice = resolve_level(compiled.value().settings).value();
  EXPECT_EQ(choice.level, Level::gvisor);
  EXPECT_EQ(choice.accepted_by, "shipped policy");
}

}  // namespace
}  // namespace paddock::policy
