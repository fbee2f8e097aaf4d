#include "api/e2b/template_json.h"

#include <gtest/gtest.h>

#include "api/e2b/json.h"

namespace paddock::api::e2b {
namespace {

using engine::BuildStep;
using engine::StepKind;

Result<WantedBuild> build_of(const char* text) {
  return wanted_build(parse_object(text).value());
}

TEST(TemplateJson, StepsAreRead) {
  const auto build = build_of(R"({"fromTemplate":"base","startCmd":"serve","readyCmd":"true",
      "steps":[{"type":"RUN","args":["echo hi","root"],"force":true},
               {"type":"ENV","args":["A","b"]}],"force":false})");
  ASSERT_TRUE(build.ok()) << build.error().describe();
  EXPECT_EQ(build->from_template, "base");
  EXPECT_EQ(build->plan.start_command, "serve");
  EXPECT_EQ(build->plan.ready_command, "true");
  EXPECT_EQ(build->plan.cache, BuildStep::Cache::use);
  ASSERT_EQ(build->plan.steps.size(), 2u);
  EXPECT_EQ(build->plan.steps[0].kind, StepKind::run);
  EXPECT_EQ(build->plan.steps[0].arg(1), "root");
  EXPECT_EQ(build->plan.steps[0].cache, BuildStep::Cache::renew);
  EXPECT_EQ(build->plan.steps[1].cache, BuildStep::Cache::use);
}

TEST(TemplateJson, ImagesAreRefusedAsUnsupported) {
  for (const char* text : {R"({"fromImage":"ubuntu:22.04"})",
                           R"({"fromTemplate":"base","fromImageRegistry":{"type":"aws"}})"}) {
    EXPECT_EQ(build_of(text).error().code(), Code::unsupported) << text;
    EXPECT_NE(build_of(text).error().describe().find("image layer"), std::string::npos);
  }
}

TEST(TemplateJson, WhatIsNoBuildIsRefused) {
  std::string many = R"({"fromTemplate":"base","steps":[)";
  for (int i = 0; i < 201; ++i) many += R"({"type":"RUN","args":["a"]},)";
  many.back() = ']';
  for (const std::string& text :
       {std::string("{}"), std::string(R"({"fromTemplate":1})"),
        std::string(R"({"fromTemplate":"base","steps":{}})"),
        std::string(R"({"fromTemplate":"base","steps":["RUN"]})"),
        std::string(R"({"fromTemplate":"base","steps":[{"type":"EXPOSE","args":["1"]}]})"),
        std::string(R"({"fromTemplate":"base","steps":[{"type":"RUN","args":"echo"}]})"),
        std::string(R"({"fromTemplate":"base","steps":[{"type":"RUN","args":[1]}]})"),
        many + "}"}) {
    const auto build = build_of(text.c_str());
    ASSERT_FALSE(build.ok()) << text.substr(0, 100);
    EXPECT_EQ(build.error().code(), Code::invalid_argument);
  }
}

TEST(TemplateJson, WhatIsAskedForAndNotGivenIsSaid) {
  model::Limits limits;
  limits.cpus = 2;
  limits.memory_bytes = 1u << 30;
  limits.disk_bytes = 10u << 20;
  auto remark = [&](const char* text) {
    return wanted_template(parse_object(text).value(), limits)->remark;
  };
  EXPECT_EQ(remark(R"({"name":"a","cpuCount":2,"memoryMB":1024,"minFreeDiskMb":10})"), "");
  EXPECT_EQ(remark(R"({"name":"a"})"), "");
  EXPECT_NE(remark(R"({"name":"a","cpuCount":8})").find("2 processors"), std::string::npos);
  EXPECT_NE(remark(R"({"name":"a","memoryMB":512})").find("1G of memory"), std::string::npos);
  EXPECT_NE(remark(R"({"name":"a","minFreeDiskMb":11})").find("10M of disk"), std::string::npos);
}

TEST(TemplateJson, AnErrorSaysWhereItWas) {
  engine::BuildReport report;
  report.build.state = engine::BuildState::error;
  report.build.reason = "why";
  report.build.step = "2";
  report.lines.push_back({0, engine::BuildLevel::error, "why", "2"});
  const auto told = status_json(report);
  EXPECT_EQ(told.at("status"), "error");
  EXPECT_EQ(told.at("reason").at("message"), "why");
  EXPECT_EQ(told.at("reason").at("step"), "2");
  EXPECT_EQ(told.at("logEntries").at(0).at("level"), "error");
  EXPECT_EQ(told.at("logs").at(0), "why");
  report.build.state = engine::BuildState::ready;
  EXPECT_FALSE(status_json(report).contains("reason"));
}

}  // namespace
}  // namespace paddock::api::e2b
