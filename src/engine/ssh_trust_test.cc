#include "engine/ssh_trust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paddock::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

model::EgressRule git_rule(std::string host, std::optional<model::TextList> ports = {}) {
  model::EgressRule rule;
  rule.action = model::EgressAction::allow;
  rule.protocol = model::EgressProtocol::git;
  rule.hosts = model::TextList{std::move(host)};
  rule.ports = std::move(ports);
  return rule;
}

TEST(SshTrust, OnlyHostsOfRulesOnGitAreTheGate) {
  model::EgressRule plain = git_rule("ssh.example");
  plain.protocol = model::EgressProtocol::ssh;
  EXPECT_THAT(opened_ssh_hosts({.lists = {{git_rule("git.example"), git_rule("git.example"), plain},
                                          {git_rule("*.git.example", {{"22", "2222"}})},
                                          {git_rule("r.example", {{"2000-3000"}})}}}),
              ElementsAre("*.git.example", "[*.git.example]:2222", "[r.example]:*", "git.example",
                          "r.example"));
  EXPECT_THAT(opened_ssh_hosts({.lists = {{plain}}}), IsEmpty());
  EXPECT_EQ(known_hosts_text({"a", "[b]:1"}, "ssh-ed25519 K"),
            "a ssh-ed25519 K\n[b]:1 ssh-ed25519 K\n");
}

}  // namespace
}  // namespace paddock::engine
