#include "api/e2b/process_json.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "api/e2b/json.h"

namespace paddock::api::e2b {
namespace {

Result<engine::ProcessRequest> command_of(std::string_view text) {
  return process_request(parse_object(text).value());
}

TEST(ProcessRequest, TakesWhatTheSdkSends) {
  auto request = command_of(
      R"({"process":{"cmd":"/bin/bash","args":["-l","-c","exit 3"],"envs":{"A":"1"},"cwd":"/tmp"},)"
      R"("stdin":false,"tag":"t"})");
  ASSERT_TRUE(request.ok()) << request.error().describe();
  EXPECT_EQ(request->argv, (std::vector<std::string>{"/bin/bash", "-l", "-c", "exit 3"}));
  EXPECT_EQ(request->environment.at("A"), "1");
  EXPECT_EQ(request->directory, "/tmp");
  EXPECT_EQ(request->tag, "t");
  EXPECT_EQ(request->input, engine::ProcessRequest::Input::none);
}

TEST(ProcessRequest, ClientsThatKnowNoStdinFieldCanWrite) {
  EXPECT_EQ(command_of(R"({"process":{"cmd":"cat"}})")->input, engine::ProcessRequest::Input::open);
}

TEST(ProcessRequest, ATerminalHasASize) {
  auto request = command_of(R"({"process":{"cmd":"sh"},"pty":{"size":{"cols":100,"rows":30}}})");
  EXPECT_EQ(request->terminal->columns, 100u);
  EXPECT_EQ(request->terminal->rows, 30u);
  EXPECT_FALSE(command_of(R"({"process":{"cmd":"sh"},"pty":{"size":{"cols":0,"rows":30}}})").ok());
}

TEST(ProcessRequest, NamesTheFieldThatIsWrong) {
  for (const auto& [text, field] :
       {std::pair{R"({})", "process"}, std::pair{R"({"process":{}})", "cmd"},
        std::pair{R"({"process":{"cmd":"a","args":"b"}})", "args"},
        std::pair{R"({"process":{"cmd":"a","envs":{"A":1}}})", "envs"},
        std::pair{R"({"process":{"cmd":"a"},"stdin":"no"})", "stdin"}}) {
    auto request = command_of(text);
    ASSERT_FALSE(request.ok()) << text;
    EXPECT_EQ(request.error().code(), Code::invalid_argument);
    EXPECT_NE(request.error().message().find(field), std::string::npos) << text;
  }
}

std::string end_of(wire::Ended::How how, int code) {
  wire::Ended ended;
  ended.set_how(how);
  ended.set_code(code);
  return boost::json::serialize(end_event(ended));
}

TEST(EndEvent, SaysWhatGoWouldSay) {
  EXPECT_EQ(end_of(wire::Ended::EXITED, 0),
            R"({"event":{"end":{"exitCode":0,"exited":true,"status":"exit status 0"}}})");
  EXPECT_EQ(
      end_of(wire::Ended::EXITED, 3),
      R"({"event":{"end":{"exitCode":3,"exited":true,"status":"exit status 3","error":"exit status 3"}}})");
  EXPECT_EQ(
      end_of(wire::Ended::SIGNALLED, SIGKILL),
      R"({"event":{"end":{"exitCode":-1,"exited":false,"status":"signal: killed","error":"signal: killed"}}})");
}

}  // namespace
}  // namespace paddock::api::e2b
