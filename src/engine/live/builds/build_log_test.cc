#include "engine/live/builds/build_log.h"

#include <gtest/gtest.h>

namespace paddock::engine {
namespace {

std::vector<std::string> messages(const BuildLog& log) {
  std::vector<std::string> out;
  for (const BuildLine& line : log.lines()) out.push_back(line.message);
  return out;
}

TEST(BuildLog, OutputBecomesLinesHoweverItComes) {
  BuildLog log;
  log.begin_step("2", "[2]");
  log.add_output("stdout", "a");
  log.add_output("stderr", "x\n");
  log.add_output("stdout", "b\nc\n\nd");
  log.end_output();
  EXPECT_EQ(messages(log),
            (std::vector<std::string>{"[2] [stderr]: x", "[2] [stdout]: ab", "[2] [stdout]: c",
                                      "[2] [stdout]: ", "[2] [stdout]: d"}));
  EXPECT_EQ(log.lines().front().step, "2");
}

TEST(BuildLog, WhatIsNoTextIsShownAsSuch) {
  BuildLog log;
  log.add_output("stdout", "\x1b[31m\xff\n");
  EXPECT_EQ(log.lines().front().message, " [stdout]: \\x1b[31m\\xff");
}

TEST(BuildLog, ALineIsCutAndAFullLogSaysSoOnce) {
  BuildLog log;
  log.add_output("stdout", std::string(5000, 'a'));
  log.end_output();
  EXPECT_EQ(log.lines().size(), 2u);
  for (int i = 0; i < 30'000; ++i) log.add(BuildLevel::info, "line");
  EXPECT_EQ(log.lines().size(), 20'001u);
  EXPECT_EQ(log.lines().back().level, BuildLevel::warn);
  log.add(BuildLevel::error, "why it failed");
  EXPECT_EQ(log.lines().back().message, "why it failed");
}

}  // namespace
}  // namespace paddock::engine
