#include "egress/rules/git_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paddock::egress {
namespace {

using model::EgressAction;
using testing::ElementsAre;

const std::string kOld(40, '0');
const std::string kNew(40, 'a');

http::Request request(const std::string& method, const std::string& target) {
  return {.method = method, .target = target, .authority = "git.example", .fields = {}};
}

std::string packet(const std::string& line) {
  char length[5];
  std::snprintf(length, sizeof length, "%04zx", line.size() + 4);
  return length + line;
}
std::string command(const std::string& ref) {
  return packet(kOld + " " + kNew + " " + ref);
}

TEST(GitOperation, TheSmartRequestsAreKnown) {
  auto step = [](const http::Request& asked) { return find_git_operation(asked).value().step; };
  EXPECT_EQ(step(request("GET", "/o/r.git/info/refs?service=git-upload-pack")),
            GitStep::list_to_fetch);
  EXPECT_EQ(step(request("GET", "/o/r/info/refs?service=git-receive-pack")), GitStep::list_to_push);
  EXPECT_EQ(step(request("POST", "/o/r.git/git-upload-pack")), GitStep::fetch);
  EXPECT_EQ(step(request("POST", "/o/r/git-receive-pack")), GitStep::push);
  EXPECT_EQ(find_git_operation(request("POST", "/o/r.git/git-receive-pack"))->repository, "o/r");
}

TEST(GitOperation, WhatCouldBeAnotherRepositoryIsNone) {
  for (const char* target : {"/o/../x/git-upload-pack", "/o%2fr/git-upload-pack",
                             "//o/r/git-upload-pack", "/git-upload-pack", "/o/r/git-upload-pack/",
                             "/o/r/git-upload-pack?x", "/o/r/objects/info/packs"}) {
    EXPECT_FALSE(find_git_operation(request("POST", target)).has_value()) << target;
  }
  EXPECT_FALSE(find_git_operation(request("GET", "/o/r/info/refs")).has_value());
  EXPECT_FALSE(find_git_operation(request("GET",
                                          "/o/r/info/refs?service=git-upload-pack&service="
                                          "git-receive-pack"))
                   .has_value());
}

TEST(PushCommands, RefsAreReadUpToTheFlush) {
  const std::string body =
      packet(kOld + " " + kNew + " refs/heads/a" + std::string(1, '\0') + "report-status") +
      command("refs/heads/b") + "0000PACK....";
  EXPECT_THAT(parse_push_commands(body).value().value(),
              ElementsAre("refs/heads/a", "refs/heads/b"));
  for (size_t cut = 0; cut < body.find("0000PACK") + 4; ++cut) {
    EXPECT_FALSE(parse_push_commands(body.substr(0, cut)).value().has_value()) << cut;
  }
}

TEST(PushCommands, WhatHidesRefsIsRefused) {
  for (const std::string& body :
       {packet("push-cert" + std::string(1, '\0') + "x"), packet("junk"), std::string("00zz"),
        std::string("0003"), packet(kOld + " x y")}) {
    EXPECT_FALSE(parse_push_commands(body).ok());
  }
}

TEST(PushCommands, TheListIsBounded) {
  std::string body;
  for (int i = 0; i < 2000; ++i) body += command("refs/heads/" + std::to_string(i));
  EXPECT_FALSE(parse_push_commands(body).ok());
}

TEST(GitMeaning, ARuleGivesFetchingAndPushesToItsRefsAlone) {
  const model::GitConditions agents{.repositories = {{"o/*"}}, .push = {"agent/*"}};
  auto meaning = [&](GitOperation operation) {
    return git_meaning(agents, operation, EgressAction::allow);
  };
  EXPECT_EQ(meaning({"o/r", GitStep::fetch, {}}), GitMeaning::met);
  EXPECT_EQ(meaning({"x/r", GitStep::fetch, {}}), GitMeaning::not_met);
  EXPECT_EQ(meaning({"o/r/s", GitStep::fetch, {}}), GitMeaning::not_met);
  EXPECT_EQ(meaning({"o/r", GitStep::list_to_push, {}}), GitMeaning::met);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {}}), GitMeaning::needs_refs);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/heads/agent/x"}}}), GitMeaning::met);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/heads/agent/x", "refs/heads/main"}}}),
            GitMeaning::not_met);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/tags/agent/x"}}}), GitMeaning::not_met);
}

TEST(GitMeaning, PushingMustBeNamed) {
  const model::GitConditions read{.repositories = {{"**"}}, .push = {}};
  EXPECT_EQ(git_meaning(read, {"o/r", GitStep::list_to_push, {}}, EgressAction::allow),
            GitMeaning::not_met);
  EXPECT_EQ(git_meaning(read, {"o/r", GitStep::push, {{"refs/heads/a"}}}, EgressAction::allow),
            GitMeaning::not_met);
}

TEST(GitMeaning, ARefusalOfARefIsMetByAnyPushThatHoldsIt) {
  const model::GitConditions main_branch{.repositories = {}, .push = {"main"}};
  auto meaning = [&](GitOperation operation) {
    return git_meaning(main_branch, operation, EgressAction::deny);
  };
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/heads/x", "refs/heads/main"}}}),
            GitMeaning::met);
  EXPECT_EQ(meaning({"o/r", GitStep::push, {{"refs/heads/x"}}}), GitMeaning::not_met);
  EXPECT_EQ(meaning({"o/r", GitStep::fetch, {}}), GitMeaning::not_met);
}

}  // namespace
}  // namespace paddock::egress
