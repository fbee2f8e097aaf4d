#include "wire/ssh_frame.h"

#include <gtest/gtest.h>

namespace paddock::wire {
namespace {

TEST(SshFrame, FramesComeBackHoweverTheyAreCut) {
  const std::string all = encode_ssh_frame(SshFrameKind::data, std::string(70000, 'x')) +
                          encode_ssh_frame(SshFrameKind::exit, "1");
  std::string bytes;
  std::vector<SshFrame> frames;
  for (size_t at = 0; at < all.size(); at += 999) {
    bytes += all.substr(at, 999);
    while (auto frame = take_ssh_frame(bytes).value()) frames.push_back(*frame);
  }
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].payload.size(), 70000u);
  EXPECT_EQ(frames[1].kind, SshFrameKind::exit);
  EXPECT_EQ(frames[1].payload, "1");
}

TEST(SshFrame, WhatIsNoFrameIsAnError) {
  for (std::string bad : {std::string("\0\0\0\0\0", 5), std::string("\x09\0\0\0\0", 5),
                          std::string("\x05\x7f\xff\xff\xff", 5)}) {
    EXPECT_FALSE(take_ssh_frame(bad).ok());
  }
}

TEST(SshFrame, FieldsMayBeEmpty) {
  EXPECT_EQ(split_fields(join_fields({"a", "", "b"})), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split_fields(join_fields({""})), std::vector<std::string>{""});
  EXPECT_TRUE(split_fields("a").empty());
}

}  // namespace
}  // namespace paddock::wire
