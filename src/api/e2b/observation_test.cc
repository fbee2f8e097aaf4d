#include "api/e2b/observation.h"

#include <gtest/gtest.h>

namespace paddock::api::e2b {
namespace {

engine::SandboxLog three_entries() {
  engine::SandboxLog log;
  log.add({.message = "one", .fields = {{"pid", "1"}}});
  log.add({.level = engine::LogEntry::Level::warn, .message = "two"});
  log.add({.message = "three"});
  return log;
}

std::string messages(const Query& query) {
  const auto out =
      logs_json(three_entries(), log_query(query, ApiVersion::v2).value(), ApiVersion::v2);
  std::string all;
  for (const auto& entry : out.at("logs").as_array()) {
    all += std::string(entry.at("message").as_string()) + " ";
  }
  return all;
}

TEST(Logs, ComeInTheOrderThatIsAskedForWithinTheLimit) {
  EXPECT_EQ(messages({}), "one two three ");
  EXPECT_EQ(messages({{"direction", "backward"}, {"limit", "2"}}), "three two ");
  EXPECT_EQ(messages({{"limit", "0"}}), "");
}

TEST(Logs, AreChosenByLevelTextAndTime) {
  EXPECT_EQ(messages({{"level", "warn"}}), "two ");
  EXPECT_EQ(messages({{"level", "debug"}}), "one two three ");
  EXPECT_EQ(messages({{"search", "hre"}}), "three ");
  EXPECT_EQ(messages({{"cursor", "99999999999999"}}), "");
  EXPECT_EQ(messages({{"cursor", "99999999999999"}, {"direction", "backward"}}), "three two one ");
}

TEST(Logs, OfTheOlderVersionAreLinesToo) {
  const auto out = logs_json(three_entries(), LogQuery(), ApiVersion::v1);
  EXPECT_EQ(out.at("logs").as_array()[0].at("line").as_string(), "one pid=1");
  EXPECT_EQ(out.at("logEntries").as_array()[1].at("level").as_string(), "warn");
}

TEST(Logs, QuestionsThatMakeNoSenseAreRefused) {
  for (const Query& query : {Query{{"limit", "1001"}}, Query{{"limit", "x"}},
                             Query{{"level", "loud"}}, Query{{"direction", "up"}}}) {
    EXPECT_FALSE(log_query(query, ApiVersion::v2).ok());
  }
}

}  // namespace
}  // namespace paddock::api::e2b
