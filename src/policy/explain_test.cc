#include "policy/explain.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "policy/testing/policies.h"

namespace paddock::policy {
namespace {

using namespace testing;  // NOLINT: the helpers of policy/testing

Explanation row_of(const Compiled& compiled, std::string_view key) {
  std::vector<model::Control> controls{
      {"limits.memory", model::ControlState::approximated, "per process"},
      {"unrelated", model::ControlState::refused, ""}};
  for (Explanation& row : explain(compiled, controls)) {
    if (row.key == key) return std::move(row);
  }
  ADD_FAILURE() << "no row for " << key;
  return {};
}

TEST(Explain, EachSettingHasOneRow) {
  auto rows = explain(compile_tiers({}).value(), {});
  ASSERT_EQ(rows.size(), settings().size());
  for (const Explanation& row : rows) {
    EXPECT_FALSE(row.value.empty()) << row.key;
    EXPECT_EQ(row.origin, "shipped policy") << row.key;
    EXPECT_FALSE(row.doc.empty()) << row.key;
  }
}

TEST(Explain, ARowSaysValueOriginBoundAndState) {
  Compiled compiled =
      compile_tiers({admin("limits.memory = \"2G\"\nbounds.limits.memory = \"8G\""),
                     user("files.deny = [\"/a\"]"), project("files.deny = [\"/b\"]")},
                    {{"limits.memory", "3G"}})
          .value();
  Explanation memory = row_of(compiled, "limits.memory");
  EXPECT_EQ(memory.value, "\"3G\"");
  EXPECT_EQ(memory.origin, "flag --memory");
  EXPECT_EQ(memory.bound, "\"8G\" (admin policy /etc/admin.toml:2)");
  EXPECT_EQ(memory.state, model::ControlState::approximated);
  EXPECT_EQ(memory.detail, "per process");

  Explanation deny = row_of(compiled, "files.deny");
  EXPECT_EQ(deny.value, "[\"/a\", \"/b\"]");
  EXPECT_EQ(deny.origin, "user policy /home/u/user.toml:1 + project policy paddock.toml:1");
  EXPECT_EQ(deny.state, std::nullopt);
  EXPECT_EQ(row_of(compiled, "trust").state, std::nullopt);
}

}  // namespace
}  // namespace paddock::policy
