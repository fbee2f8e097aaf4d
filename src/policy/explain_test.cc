#include "policy/explain.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "model/json.h"
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

TEST(Explain, TheJsonOfARowHasItsValueInItsOwnType) {
  Compiled compiled = compile_tiers({admin("limits.memory = \"2G\"")},
                                    {{"env.set", "A=\xff"}, {"limits.cpus", "1.5"}})
                          .value();
  std::vector<model::Control> controls{{"limits.memory", model::ControlState::enforced, "cgroup"}};
  boost::json::array rows = explain_json(compiled, controls);
  ASSERT_EQ(rows.size(), settings().size());
  auto text_of = [&](std::string_view key) -> std::string {
    for (boost::json::value& row : rows) {
      if (row.at("key") != boost::json::string(key)) continue;
      row.get_object().erase("doc");
      return model::json_text(row);
    }
    return "";
  };
  EXPECT_EQ(text_of("limits.memory"),
            R"({"key":"limits.memory","value":"2G","origin":"admin policy /etc/admin.toml:1",)"
            R"x("bound":"\"2G\" (admin policy /etc/admin.toml:1)","state":"enforced",)x"
            R"("detail":"cgroup"})");
  EXPECT_EQ(text_of("limits.pids"),
            R"({"key":"limits.pids","value":1024,"origin":"shipped policy",)"
            R"("bound":null,"state":null,"detail":""})");
  EXPECT_EQ(text_of("limits.cpus"), R"({"key":"limits.cpus","value":1.5E0,"origin":"flag --cpus",)"
                                    R"("bound":null,"state":null,"detail":""})");
  EXPECT_EQ(text_of("env.set"), R"({"key":"env.set","value":{"A":"\\xff","A_base64":"/w=="},)"
                                R"("origin":"flag --env","bound":null,"state":null,"detail":""})");
  EXPECT_EQ(text_of("limits.timeout"),
            R"({"key":"limits.timeout","value":"none","origin":"shipped policy",)"
            R"("bound":null,"state":null,"detail":""})");
  EXPECT_EQ(text_of("files.show"),
            R"({"key":"files.show","value":[".env.example",".env.sample",".env.template"],)"
            R"("origin":"shipped policy","bound":null,"state":null,"detail":""})");
}

}  // namespace
}  // namespace paddock::policy
