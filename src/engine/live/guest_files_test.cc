#include "engine/live/guest_files.h"

#include <gtest/gtest.h>

namespace paddock::engine {
namespace {

TEST(GuestPath, IsAbsoluteAsText) {
  const std::string home = "/home/user";
  EXPECT_EQ(guest_path("", home).value(), "/home/user");
  EXPECT_EQ(guest_path(".", home).value(), "/home/user");
  EXPECT_EQ(guest_path("a//b/./c", home).value(), "/home/user/a/b/c");
  EXPECT_EQ(guest_path("~/x", home).value(), "/home/user/x");
  EXPECT_EQ(guest_path("~", home).value(), "/home/user");
  EXPECT_EQ(guest_path("~other", home).value(), "/home/user/~other");
  EXPECT_EQ(guest_path("/tmp/../etc/", home).value(), "/etc");
  EXPECT_EQ(guest_path("/../../..", home).value(), "/");
}

TEST(GuestPath, RefusesWhatIsNoPath) {
  EXPECT_EQ(guest_path(std::string_view("a\0b", 3), "/h").error().code(), Code::invalid_argument);
  EXPECT_EQ(guest_path(std::string(5000, 'a'), "/h").error().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace paddock::engine
