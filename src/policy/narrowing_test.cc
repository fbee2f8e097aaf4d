#include "policy/narrowing.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "policy/testing/policies.h"
#include "policy/testing/policy_check.h"
#include "policy/testing/random_policy.h"
#include "policy/value.h"

namespace paddock::policy {
namespace {

using testing::Rng;

constexpr std::array kCoverages{Coverage::same, Coverage::within};

bool is_narrow(const Setting& setting, const Value& a, const Value& b, Coverage coverage) {
  return !wider_part(setting, a, b, coverage).has_value();
}

TEST(Narrowing, IsReflexiveAndTransitiveForEverySetting) {
  Rng rng(1);
  size_t chains = 0;
  for (const Setting& setting : settings()) {
    for (Coverage coverage : kCoverages) {
      for (int i = 0; i < 200; ++i) {
        Value a = testing::random_value(setting, rng);
        Value b = testing::random_value(setting, rng);
        Value c = testing::random_value(setting, rng);
        EXPECT_TRUE(is_narrow(setting, a, a, coverage)) << setting.key;
        if (!is_narrow(setting, a, b, coverage) || !is_narrow(setting, b, c, coverage)) continue;
        ++chains;
        EXPECT_TRUE(is_narrow(setting, a, c, coverage))
            << setting.key << ": " << format_value(setting, a) << " in " << format_value(setting, b)
            << " in " << format_value(setting, c);
      }
    }
  }
  EXPECT_GT(chains, 1000u) << "the values rarely meet: the test sees too little";
}

TEST(Narrowing, ARestrictingListOnlyGrowsWhateverMeetsIt) {
  Rng rng(2);
  for (const Setting& setting : settings()) {
    if (setting.order != Order::more_entries) continue;
    for (int i = 0; i < 200; ++i) {
      Value current = testing::random_value(setting, rng);
      Value given = testing::random_value(setting, rng);
      for (Source source : {Source::file, Source::flag}) {
        Value merged = merge(setting, current, given, source);
        EXPECT_TRUE(is_narrow(setting, merged, current, Coverage::same));
        EXPECT_TRUE(is_narrow(setting, merged, given, Coverage::same));
      }
    }
  }
}

TEST(Narrowing, AClampedValueIsWithinItsBoundAndAddsNothing) {
  Rng rng(3);
  for (const Setting& setting : settings()) {
    bool bounded = setting.order == Order::smaller || setting.order == Order::later_choice ||
                   setting.order == Order::fewer_entries;
    for (int i = 0; bounded && i < 200; ++i) {
      Value value = testing::random_value(setting, rng);
      Value bound = testing::random_value(setting, rng);
      Value clamped = clamp(setting, value, bound);
      EXPECT_TRUE(is_narrow(setting, clamped, bound, Coverage::within)) << setting.key;
      EXPECT_TRUE(is_narrow(setting, clamped, value, Coverage::within)) << setting.key;
    }
  }
}

TEST(Narrowing, PrintedValuesReadBackThroughTomlTheSame) {
  Rng rng(4);
  for (const Setting& setting : settings()) {
    for (int i = 0; i < 100; ++i) {
      Value value = testing::random_value(setting, rng);
      std::string text = std::string(setting.key) + " = " + format_value(setting, value);
      RawValue raw = parse_toml(text, "x").value();
      for (const std::string& part : split(setting.key, '.')) {
        ASSERT_EQ(raw.members.size(), 1u) << part;
        raw = RawValue(raw.members[0].value);
      }
      auto read = parse_value(setting, raw, {});
      ASSERT_TRUE(read.ok()) << text << ": " << read.error().describe();
      EXPECT_EQ(*read, value) << text;
    }
  }
}

// Random tiers through the fuzzer's promises: no project widens, no bound is passed, what is
// printed reads back.
TEST(Narrowing, NoRandomProjectWidensAnything) {
  Rng rng(5);
  size_t accepted = 0;
  size_t refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::string admin = i % 3 == 0 ? testing::random_tier(rng) : "";
    std::string user = testing::random_tier(rng);
    std::string project = testing::random_tier(rng);
    EXPECT_EQ(testing::check_policy_input(admin + "----\n" + user + "----\n" + project), "")
        << user << "----\n"
        << project;
    auto above = testing::compile_tiers({testing::admin(admin), testing::user(user)});
    if (!above.ok()) continue;
    bool ok = testing::compile_tiers(
                  {testing::admin(admin), testing::user(user), testing::project(project)})
                  .ok();
    ++(ok ? accepted : refused);
  }
  EXPECT_GT(accepted, 2u);
  EXPECT_GT(refused, 60u);
}

// One key at a time, so that both verdicts are common: refused exactly when it would have been
// wider.
TEST(Narrowing, AProjectValueIsTakenExactlyWhenItIsNarrower) {
  Rng rng(6);
  for (const Setting& setting : settings()) {
    if (setting.shape == Shape::profile) continue;
    for (int i = 0; i < 20; ++i) {
      Value before = testing::random_value(setting, rng);
      Value given = testing::random_value(setting, rng);
      auto line = [&](const Value& value) {
        return std::string(setting.key) + " = " + format_value(setting, value);
      };
      auto above = testing::compile_tiers({testing::user(line(before))});
      ASSERT_TRUE(above.ok()) << above.error().describe();
      Value in_force = setting.access.get(above->settings);
      Value merged = merge(setting, in_force, given, Source::file);
      bool taken = is_narrow(setting, merged, in_force, Coverage::same) &&
                   (setting.project == ProjectTier::may_narrow || merged == in_force);
      auto below =
          testing::compile_tiers({testing::user(line(before)), testing::project(line(given))});
      EXPECT_EQ(below.ok(), taken) << line(before) << " then " << line(given);
      if (!below.ok()) continue;
      EXPECT_EQ(setting.access.get(below->settings), merged);
    }
  }
}

}  // namespace
}  // namespace paddock::policy
