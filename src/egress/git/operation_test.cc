#include "egress/git/operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paddock::egress {
namespace {

http::Request git_request(const std::string& method, const std::string& target) {
  return {.method = method, .target = target, .authority = "git.example", .fields = {}};
}

TEST(GitOperation, TheSmartRequestsAreKnown) {
  auto step = [](const http::Request& asked) { return find_git_operation(asked).value().step; };
  EXPECT_EQ(step(git_request("GET", "/o/r.git/info/refs?service=git-upload-pack")),
            GitStep::list_to_fetch);
  EXPECT_EQ(step(git_request("GET", "/o/r/info/refs?service=git-receive-pack")),
            GitStep::list_to_push);
  EXPECT_EQ(step(git_request("POST", "/o/r.git/git-upload-pack")), GitStep::fetch);
  EXPECT_EQ(step(git_request("POST", "/o/r/git-receive-pack")), GitStep::push);
  EXPECT_EQ(find_git_operation(git_request("POST", "/o/r.git/git-receive-pack"))->repository,
            "o/r");
}

TEST(GitOperation, WhatCouldBeAnotherRepositoryIsNone) {
  for (const char* target : {"/o/../x/git-upload-pack", "/o%2fr/git-upload-pack",
                             "//o/r/git-upload-pack", "/git-upload-pack", "/o/r/git-upload-pack/",
                             "/o/r/git-upload-pack?x", "/o/r/objects/info/packs"}) {
    EXPECT_FALSE(find_git_operation(git_request("POST", target)).has_value()) << target;
  }
  EXPECT_FALSE(find_git_operation(git_request("GET", "/o/r/info/refs")).has_value());
  EXPECT_FALSE(find_git_operation(git_request("GET",
                                              "/o/r/info/refs?service=git-upload-pack&service="
                                              "git-receive-pack"))
                   .has_value());
}

}  // namespace
}  // namespace paddock::egress
