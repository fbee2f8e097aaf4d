#include "egress/git/exec_command.h"

#include <gtest/gtest.h>

namespace paddock::egress::git {
namespace {

TEST(ExecCommand, FetchAndPushOfOnePathAreKnown) {
  const ExecCommand fetch = parse_exec_command("git-upload-pack 'acme/app.git'").value();
  EXPECT_EQ(fetch.step, GitStep::fetch);
  EXPECT_EQ(fetch.repository, "acme/app");
  EXPECT_EQ(fetch.command(), "git-upload-pack 'acme/app.git'");
  const ExecCommand push = parse_exec_command("git receive-pack '/~bot/app'").value();
  EXPECT_EQ(push.step, GitStep::list_to_push);
  EXPECT_EQ(push.repository, "~bot/app");
  EXPECT_EQ(push.command(), "git-receive-pack '/~bot/app'");
}

TEST(ExecCommand, WhatCouldBeMoreThanThatIsRefused) {
  for (std::string_view command : {
           "",
           "sh",
           "git-upload-pack",
           "git-upload-pack ",
           "git-upload-pack ''",
           "git-upload-pack acme/app",
           "git-upload-archive 'acme/app'",
           "git-shell 'acme/app'",
           "git-upload-pack 'acme/app' 'other'",
           "git-upload-pack 'acme/app'; id",
           "git-upload-pack 'acme/app' && id",
           "git-upload-pack 'a'$(id)'b'",
           "git-upload-pack 'a'\\''b'",
           "git-upload-pack 'a\nb'",
           "git-upload-pack 'a`id`'",
           "git-upload-pack --strict 'acme/app'",
           "git-upload-pack '--upload-pack=id'",
           "git-upload-pack '-x'",
           "git-upload-pack '/-x'",
           "git-upload-pack \"acme/app\"",
           "git-upload-pack  'acme/app'",
           " git-upload-pack 'acme/app'",
           "git-upload-pack 'acme/app' ",
           "git-upload-packx 'acme/app'",
           "GIT-UPLOAD-PACK 'acme/app'",
           "git-upload-pack 'a$b'",
           "git-upload-pack 'a\\b'",
           "git-upload-pack '\xc3\xa4'",
           "sh -c 'git-upload-pack x'",
       }) {
    EXPECT_FALSE(parse_exec_command(command).ok()) << command;
  }
}

TEST(ExecCommand, APathThatHasOtherNamesIsRefused) {
  for (std::string_view path :
       {"acme/../other/app", "./acme/app", "acme//app", "//acme/app", "acme/app/", "/",
        "acme/app/.git", ".git", "acme/app.git.git", "acme/./app", ".."}) {
    EXPECT_FALSE(parse_exec_command("git-upload-pack '" + std::string(path) + "'").ok()) << path;
  }
}

}  // namespace
}  // namespace paddock::egress::git
