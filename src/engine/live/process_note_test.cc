#include "engine/live/process_note.h"

#include <gtest/gtest.h>

#include "wire/frame.h"

namespace paddock::engine {
namespace {

TEST(ProcessNote, SaysWhatWasAskedFor) {
  ProcessRequest request;
  request.argv = {"/bin/sh", "-c", "echo \xff"};
  request.environment = {{"A", "1=2"}, {"B", ""}};
  request.directory = "/tmp";
  request.terminal = TerminalSize{10, 20};
  request.timeout_ms = 5;
  request.tag = "tag";
  const ProcessRequest read = request_of(note_of(request)).value();
  EXPECT_EQ(read.argv, request.argv);
  EXPECT_EQ(read.environment, request.environment);
  EXPECT_EQ(read.directory, "/tmp");
  EXPECT_EQ(read.terminal->columns, 20u);
  EXPECT_EQ(read.timeout_ms, 5u);
  EXPECT_EQ(read.tag, "tag");
}

TEST(ProcessNote, IsBounded) {
  ProcessRequest request;
  request.argv = {"program", std::string(200'000, 'x')};
  request.environment = {{"A", std::string(200'000, 'x')}};
  request.tag = "tag";
  const std::string note = note_of(request);
  EXPECT_LE(note.size(), wire::kMaxNote);
  EXPECT_EQ(request_of(note).value().argv, std::vector<std::string>{"program"});
  EXPECT_EQ(request_of(note).value().tag, "tag");
  request.tag = std::string(200'000, 't');
  EXPECT_LE(note_of(request).size(), wire::kMaxNote);
}

TEST(ProcessNote, WhatIsNoneIsAnError) {
  EXPECT_FALSE(request_of("\xff\xff\xff").ok());
}

}  // namespace
}  // namespace paddock::engine
