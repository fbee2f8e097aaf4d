#include "egress/http/response_head.h"

#include <gtest/gtest.h>

namespace paddock::egress::http {
namespace {

ResponseHead read_response(const std::string& bytes, std::string_view method = "GET") {
  return parse_response_head(bytes, method).value().value();
}

TEST(ResponseHead, AnOrdinaryResponseIsReadAndSentOn) {
  const std::string bytes = "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nX-Y: z\r\n\r\n";
  const ResponseHead head = read_response(bytes + "hello");
  EXPECT_EQ(head.response.status, 404);
  EXPECT_EQ(head.response.reason, "Not Found");
  EXPECT_EQ(head.body.size, 5u);
  EXPECT_TRUE(head.keeps_alive);
  EXPECT_EQ(head.size, bytes.size());
  EXPECT_EQ(serialize(head), bytes);
}

TEST(ResponseHead, AReasonMayBeMissing) {
  EXPECT_EQ(read_response("HTTP/1.1 200\r\n\r\n").response.reason, "");
  EXPECT_EQ(read_response("HTTP/1.1 200 \r\n\r\n").response.reason, "");
}

TEST(ResponseHead, WhetherABodyFollowsIsTheRequestsMatterToo) {
  const std::string sized = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  EXPECT_EQ(read_response(sized, "HEAD").body.kind, BodyKind::none);
  EXPECT_EQ(read_response(sized, "GET").body.kind, BodyKind::sized);
  EXPECT_EQ(read_response("HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n").body.kind, BodyKind::none);
  EXPECT_EQ(read_response("HTTP/1.1 204 x\r\n\r\n").body.kind, BodyKind::none);
  const ResponseHead open_ended = read_response("HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(open_ended.body.kind, BodyKind::until_close);
  EXPECT_FALSE(open_ended.keeps_alive);
}

TEST(ResponseHead, InterimHeadsAreToldFromTheSwitch) {
  EXPECT_TRUE(read_response("HTTP/1.1 100 Continue\r\n\r\n").interim);
  EXPECT_TRUE(read_response("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n").interim);
  EXPECT_FALSE(read_response("HTTP/1.1 101 Switching Protocols\r\n\r\n").interim);
}

TEST(ResponseHead, WhatTwoProgramsReadInTwoWaysIsRefused) {
  for (const char* bytes :
       {"HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/2 200\r\n\r\n", "HTTP/1.1 099 x\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 200 OK\n\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"}) {
    EXPECT_FALSE(parse_response_head(bytes, "GET").ok()) << bytes;
  }
}

}  // namespace
}  // namespace paddock::egress::http
