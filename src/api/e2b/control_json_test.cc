#include "api/e2b/control_json.h"

#include <gtest/gtest.h>

#include "api/e2b/json.h"

namespace paddock::api::e2b {
namespace {

Result<engine::CreateRequest> wanted(std::string_view text, ApiVersion version = ApiVersion::v2) {
  return create_request(parse_object(text).value(), version, [](const std::string& name) {
    return Result<egress::Secret>(Error(Code::not_found, "no secret " + name));
  });
}

TEST(CreateRequest, TakesWhatTheSdkSends) {
  auto request = wanted(
      R"({"templateID":"base","metadata":{"k":"v"},"envVars":{"FOO":"bar"},"timeout":60,"new":1})");
  ASSERT_TRUE(request.ok()) << request.error().describe();
  EXPECT_EQ(request->template_name, "base");
  EXPECT_EQ(request->timeout_ms, 60'000);
  EXPECT_EQ(request->metadata.at("k"), "v");
  EXPECT_EQ(request->environment.at("FOO"), "bar");
}

TEST(CreateRequest, TheVersionsDifferInTheirTime) {
  EXPECT_EQ(wanted(R"({"templateID":"base"})", ApiVersion::v1)->timeout_ms, 15'000);
  EXPECT_EQ(wanted(R"({"templateID":"base"})", ApiVersion::v2)->timeout_ms, 300'000);
}

TEST(CreateRequest, NothingThatIsAskedForIsIgnored) {
  for (const char* field :
       {R"("network":{"egressProxy":{"address":"a:1"}})", R"("network":{"httpsPorts":[1]})",
        R"("volumeMounts":[{"name":"v","path":"/v"}])", R"("iam":{"tokens":{"a":{}}})"}) {
    auto request = wanted(std::string(R"({"templateID":"base",)") + field + "}");
    ASSERT_FALSE(request.ok()) << field;
    EXPECT_EQ(request.error().code(), Code::unsupported) << field;
  }
  EXPECT_TRUE(wanted(R"({"templateID":"base","allow_internet_access":false,"autoPause":false,)"
                     R"("autoResume":{"enabled":false},"network":null})")
                  .ok());
}

TEST(CreateRequest, TakesWhatItsClientWillStartAsACommand) {
  EXPECT_TRUE(wanted(R"({"templateID":"base","mcp":{"server":{"key":"k"}}})").ok());
  auto request = wanted(R"({"templateID":"base","mcp":"server"})");
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(request.error().code(), Code::invalid_argument);
}

TEST(CreateRequest, AsksForAPauseAtTheDeadline) {
  auto request = wanted(R"({"templateID":"base","autoPause":true,"autoResume":{"enabled":true}})");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->lifecycle.at_deadline, engine::Lifecycle::AtDeadline::pause);
  EXPECT_EQ(request->lifecycle.keep, engine::Keep::memory);
  EXPECT_TRUE(request->lifecycle.auto_resume);
}

TEST(CreateRequest, WithoutMemoryThereMustBeAPauseAndNothingToWake) {
  for (const char* fields :
       {R"("autoPauseMemory":false)",
        R"("autoPause":true,"autoPauseMemory":false,"autoResume":{"enabled":true})"}) {
    auto request = wanted(std::string(R"({"templateID":"base",)") + fields + "}");
    ASSERT_FALSE(request.ok()) << fields;
    EXPECT_EQ(request.error().code(), Code::invalid_argument);
  }
}

TEST(CreateRequest, OlderClientsSendOpenAccessUnasked) {
  EXPECT_TRUE(wanted(R"({"templateID":"base","allow_internet_access":true})", ApiVersion::v1).ok());
}

TEST(CreateRequest, RefusesTimesThatCannotBe) {
  for (const char* timeout : {"0", "-1", "31536001", "\"60\"", "1.5"}) {
    auto request = wanted(std::string(R"({"templateID":"base","timeout":)") + timeout + "}");
    ASSERT_FALSE(request.ok()) << timeout;
    EXPECT_EQ(request.error().code(), Code::invalid_argument);
  }
}

}  // namespace
}  // namespace paddock::api::e2b
