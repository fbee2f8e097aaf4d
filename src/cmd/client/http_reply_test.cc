#include "cmd/client/http_reply.h"

#include <gtest/gtest.h>

namespace paddock::cmd {
namespace {

// The body, fed in pieces of `size`.
Result<std::string> read_in_pieces(HttpReply& reply, std::string_view bytes, size_t size) {
  std::string body;
  while (!bytes.empty()) {
    body += PD_TRY(reply.feed(bytes.substr(0, size)));
    bytes.remove_prefix(std::min(size, bytes.size()));
  }
  PD_TRY(reply.end());
  return body;
}

TEST(HttpReplies, AreReadHoweverTheyAreCut) {
  const std::string chunked =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n"
      "0\r\n\r\n";
  const std::string counted =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n"
      "content-length: 11\r\n\r\nhello world";
  const std::string open = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello world";
  for (size_t size = 1; size < 70; ++size) {
    for (const auto& [text, status] : {std::pair(chunked, 200), {counted, 404}, {open, 200}}) {
      HttpReply reply;
      auto body = read_in_pieces(reply, text, size);
      ASSERT_TRUE(body.ok()) << size << text;
      EXPECT_EQ(*body, "hello world") << size << text;
      EXPECT_EQ(reply.status(), status);
      EXPECT_TRUE(reply.is_done());
    }
  }
}

TEST(HttpReplies, ThatEndTooEarlyAreErrors) {
  for (const char* text :
       {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "SSH-2.0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"}) {
    HttpReply reply;
    EXPECT_FALSE(read_in_pieces(reply, text, 7).ok()) << text;
  }
}

TEST(HttpReplies, WithoutABodyAreDoneAtOnce) {
  HttpReply reply;
  ASSERT_TRUE(reply.feed("HTTP/1.1 204 No Content\r\n\r\n").ok());
  EXPECT_TRUE(reply.is_done());
}

}  // namespace
}  // namespace paddock::cmd
