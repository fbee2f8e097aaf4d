#include "net/http/request_parser.h"

#include <gtest/gtest.h>

namespace paddock::net::http {
namespace {

TEST(RequestParser, TakesAHeadAndLeavesWhatFollows) {
  RequestParser parser;
  const std::string text = "GET /a%20b?x=1 HTTP/1.1\r\nHost: h\r\nX-One: 1\r\n\r\nGET /next";
  auto taken = parser.take_head(text);
  ASSERT_TRUE(taken.ok()) << taken.error().describe();
  EXPECT_EQ(text.substr(*taken), "GET /next");
  ASSERT_TRUE(parser.has_head());
  EXPECT_TRUE(parser.is_done());
  EXPECT_TRUE(parser.keep_alive());
  EXPECT_EQ(parser.head().method, "GET");
  EXPECT_EQ(parser.head().path(), "/a%20b");
  EXPECT_EQ(parser.head().query(), "x=1");
  EXPECT_EQ(parser.head().headers.get("x-ONE"), "1");
  EXPECT_EQ(parser.content_length(), 0u);
}

TEST(RequestParser, WaitsForTheRestOfAHead) {
  RequestParser parser;
  const std::string text = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  const size_t taken = parser.take_head(text.substr(0, 18)).value();
  EXPECT_FALSE(parser.has_head());
  EXPECT_EQ(taken + parser.take_head(text.substr(taken)).value(), text.size());
  EXPECT_TRUE(parser.has_head());
}

TEST(RequestParser, GivesABodyPieceByPiece) {
  RequestParser parser;
  ASSERT_TRUE(parser.take_head("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n").ok());
  EXPECT_EQ(parser.content_length(), 5u);
  auto piece = parser.take_body("ab");
  EXPECT_EQ(piece.value().data, "ab");
  EXPECT_FALSE(parser.is_done());
  piece = parser.take_body("cdeGET /");
  EXPECT_EQ(piece.value().taken, 3u);
  EXPECT_EQ(piece.value().data, "cde");
  EXPECT_TRUE(parser.is_done());
}

TEST(RequestParser, UnpacksChunksWithTheLastOneInAPacketOfItsOwn) {
  RequestParser parser;
  ASSERT_TRUE(
      parser.take_head("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n").ok());
  EXPECT_EQ(parser.content_length(), std::nullopt);
  auto piece = parser.take_body("3\r\nabc\r\n2\r\nde\r\n");
  ASSERT_TRUE(piece.ok()) << piece.error().describe();
  EXPECT_EQ(piece->data, "abcde");
  EXPECT_FALSE(parser.is_done());
  std::string rest = std::string("3\r\nabc\r\n2\r\nde\r\n").substr(piece->taken) + "0\r\n\r\n";
  ASSERT_TRUE(parser.take_body(rest).ok());
  EXPECT_TRUE(parser.is_done());
}

TEST(RequestParser, RefusesWhatRequestsAreSmuggledBy) {
  for (const char* head :
       {"Content-Length: 4\r\nTransfer-Encoding: chunked", "Content-Length: 4\r\nContent-Length: 5",
        "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
        "Content-Length: +4", "Content-Length: 4 4", "Bad Name: 1", "Host: a\r\nHost: b",
        "X: a\rb"}) {
    RequestParser parser;
    EXPECT_FALSE(parser.take_head(std::string("POST / HTTP/1.1\r\n") + head + "\r\n\r\n").ok())
        << head;
  }
}

TEST(RequestParser, RefusesTargetsThatAreNoPath) {
  for (const char* target : {"*", "http://other/", "other:443", "a"}) {
    RequestParser parser;
    EXPECT_FALSE(
        parser.take_head(std::string("GET ") + target + " HTTP/1.1\r\nHost: h\r\n\r\n").ok())
        << target;
  }
}

TEST(RequestParser, BoundsTheHead) {
  RequestParser long_one;
  const std::string start = "GET / HTTP/1.1\r\nX: " + std::string(RequestParser::kMaxHead, 'a');
  auto refused = long_one.take_head(start);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::resource_exhausted);

  std::string many = "GET / HTTP/1.1\r\n";
  for (size_t i = 0; i <= RequestParser::kMaxFields; ++i) many += "A: 1\r\n";
  RequestParser parser;
  EXPECT_EQ(parser.take_head(many + "\r\n").error().code(), Code::resource_exhausted);
}

TEST(Message, DecodesQueriesAndPaths) {
  EXPECT_EQ(percent_decode("a%2Fb+c%zz%4", Decode::path), "a/b+c%zz%4");
  const auto query = parse_query("path=dir%2Fb.txt&x=a+b&flag&=v");
  ASSERT_EQ(query.size(), 4u);
  EXPECT_EQ(query[0].second, "dir/b.txt");
  EXPECT_EQ(query[1].second, "a b");
  EXPECT_EQ(query[2], std::make_pair(std::string("flag"), std::string()));
}

}  // namespace
}  // namespace paddock::net::http
