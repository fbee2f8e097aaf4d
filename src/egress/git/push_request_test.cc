#include "egress/git/push_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "egress/git/packet.h"

namespace paddock::egress::git {
namespace {

using testing::ElementsAre;

const std::string kOld(40, '0');
const std::string kNew(40, 'a');

std::string command(const std::string& ref, const std::string& capabilities = "") {
  const std::string line = kOld + " " + kNew + " " + ref;
  return packet(capabilities.empty() ? line : line + std::string(1, '\0') + capabilities);
}

TEST(PushRequest, RefsAreReadUpToTheFlush) {
  const std::string body = command("refs/heads/a", " report-status side-band-64k agent=git/2") +
                           command("refs/heads/b") + "0000PACK....";
  const PushRequest request = parse_push_request(body).value().value();
  EXPECT_THAT(request.refs(), ElementsAre("refs/heads/a", "refs/heads/b"));
  EXPECT_EQ(request.changes[0], (RefChange{kOld, kNew, "refs/heads/a"}));
  EXPECT_TRUE(request.has("side-band-64k"));
  EXPECT_EQ(body.substr(request.size), "PACK....");
  for (size_t cut = 0; cut < request.size; ++cut) {
    EXPECT_FALSE(parse_push_request(body.substr(0, cut)).value().has_value()) << cut;
  }
}

TEST(PushRequest, PushOptionsStandBeforeThePack) {
  const std::string body =
      command("refs/heads/a", "push-options") + "0000" + packet("ci.skip") + "0000PACK";
  EXPECT_EQ(body.substr(parse_push_request(body).value()->size), "PACK");
  const std::string without = command("refs/heads/a") + "0000PACK";
  EXPECT_EQ(without.substr(parse_push_request(without).value()->size), "PACK");
}

TEST(PushRequest, ARemovalBringsNoPack) {
  const std::string removal = packet(kNew + " " + kOld + " refs/heads/a") + "0000";
  EXPECT_FALSE(parse_push_request(removal).value()->brings_pack());
  EXPECT_TRUE(parse_push_request(command("refs/heads/a") + "0000").value()->brings_pack());
  EXPECT_TRUE(parse_push_request("0000").value()->changes.empty());
}

TEST(PushRequest, WhatHidesRefsIsRefused) {
  for (const std::string& body :
       {packet("push-cert" + std::string(1, '\0') + "x"), packet("junk"), std::string("00zz"),
        std::string("0003"), std::string("0004"), std::string("fff1"), packet(kOld + " x y"),
        command("refs/heads/a") + command("refs/heads/b", "push-options"),
        packet(kOld + " " + kNew + " refs/heads/a\x1b[2J"),
        packet(kOld + " " + std::string(40, 'A') + " refs/heads/a"),
        packet(kOld + " " + kNew + " refs/heads/a refs/heads/b")}) {
    EXPECT_FALSE(parse_push_request(body).ok()) << body;
  }
}

TEST(PushRequest, TheListIsBounded) {
  std::string body;
  for (int i = 0; i < 2000; ++i) body += command("refs/heads/" + std::to_string(i));
  EXPECT_FALSE(parse_push_request(body).ok());
}

}  // namespace
}  // namespace paddock::egress::git
