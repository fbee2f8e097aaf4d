#include "egress/git/push_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "egress/git/advertisement.h"
#include "egress/git/pack_end.h"
#include "egress/git/packet.h"

namespace paddock::egress::git {
namespace {

using testing::HasSubstr;

const std::string kId(40, 'a');

PushRequest push(std::vector<std::string> capabilities) {
  return {.changes = {{std::string(40, '0'), kId, "refs/heads/main"}},
          .capabilities = std::move(capabilities),
          .size = 0};
}

TEST(PushReport, ARefusalIsReadAsItWasWritten) {
  for (const char* band : {"side-band-64k", "side-band", "quiet"}) {
    const PushRequest request = push({"report-status", band});
    const PushReport read =
        parse_push_report(request, refuse_push(request, "main is\nreviewed")).value();
    EXPECT_FALSE(read.ok());
    ASSERT_EQ(read.refs.size(), 1u);
    EXPECT_EQ(read.refs[0].problem, "main is\\x0areviewed");
    if (band != std::string("quiet")) {
      EXPECT_EQ(read.messages, "paddock: main is\\x0areviewed\n");
    }
  }
  EXPECT_EQ(refuse_push(push({}), "no"), "");
}

TEST(PushReport, SuccessIsTheHostsWordForEveryRef) {
  const PushRequest request = push({"report-status"});
  EXPECT_TRUE(
      parse_push_report(request, packet("unpack ok\n") + packet("ok refs/heads/main\n") + "0000")
          .value()
          .ok());
  EXPECT_FALSE(parse_push_report(request, packet("unpack ok\n") + "0000").value().ok());
  EXPECT_FALSE(
      parse_push_report(request, packet("unpack index-pack failed\n") + "0000").value().ok());
  for (const char* bad : {"", "0000000", "junk", "000ejunk it all0000"}) {
    auto read = parse_push_report(request, bad);
    EXPECT_TRUE(!read.ok() || !read->ok()) << bad;
  }
}

TEST(PushReport, AFatalWordOfTheHostIsAnError) {
  const PushRequest request = push({"report-status", "side-band-64k"});
  EXPECT_THAT(parse_push_report(request, packet("\3no space\n")).error().describe(),
              HasSubstr("no space"));
}

TEST(Advertisement, RefsOfEitherTransport) {
  const std::string list = packet(kId + " refs/heads/main" + std::string(1, '\0') + "caps\n") +
                           packet(kId + " .have\n") + packet(kId + " refs/tags/v1\n") + "0000";
  const Refs refs = parse_advertisement(list).value().value();
  EXPECT_EQ(refs, (Refs{{"refs/heads/main", kId}, {"refs/tags/v1", kId}}));
  EXPECT_EQ(parse_advertisement(packet("# service=git-receive-pack\n") + "0000" + list).value(),
            refs);
  const std::string none =
      packet(std::string(40, '0') + " capabilities^{}" + std::string(1, '\0') + "caps") + "0000";
  EXPECT_TRUE(parse_advertisement(none).value()->empty());
  EXPECT_FALSE(parse_advertisement(list.substr(0, list.size() - 4)).value().has_value());
  EXPECT_FALSE(parse_advertisement("<html>").ok());
  EXPECT_THAT(parse_advertisement(packet("ERR no such repository")).error().describe(),
              HasSubstr("no such repository"));
}

TEST(PackEnd, IsTheHashOfAllThatCameBefore) {
  // `printf 'PACK\0\0\0\2\0\0\0\0' | sha1sum`: a pack of no objects.
  const std::string pack =
      std::string("PACK\0\0\0\2\0\0\0\0", 12) +
      "\x02\x9d\x08\x82\x3b\xd8\xa8\xea\xb5\x10\xad\x6a\xc7\x5c\x82\x3c\xfd\x3e\xd3\x1e";
  PackEnd whole(40);
  for (char byte : pack) {
    EXPECT_FALSE(whole.is_whole());
    whole.feed(std::string_view(&byte, 1));
  }
  EXPECT_TRUE(whole.is_whole());
  whole.feed("x");
  EXPECT_FALSE(whole.is_whole());
}

}  // namespace
}  // namespace paddock::egress::git
