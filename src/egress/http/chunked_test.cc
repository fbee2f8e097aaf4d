#include "egress/http/chunked.h"

#include <gtest/gtest.h>

namespace paddock::egress::http {
namespace {

struct Decoded {
  std::string data;
  std::string left;  // behind the body
  bool ok = true;
  bool finished = false;
};

// Fed `step` bytes more at a time.
Decoded decode(const std::string& bytes, size_t step) {
  ChunkedDecoder decoder;
  Decoded out;
  std::string pending;
  for (size_t at = 0; at < bytes.size() && out.ok; at += step) {
    pending += bytes.substr(at, step);
    while (!decoder.finished()) {
      auto taken = decoder.next(pending);
      out.ok = taken.ok();
      if (!out.ok || taken->used == 0) break;
      out.data += taken->data;
      pending.erase(0, taken->used);
    }
  }
  out.left = pending;
  out.finished = decoder.finished();
  return out;
}

TEST(Chunked, ABodyIsTheSameHoweverItArrives) {
  const std::string bytes = "5\r\nhello\r\nB;ext=\"x\"\r\n chunked it\r\n0\r\nX-Sum: 1\r\n\r\nNEXT";
  for (size_t step = 1; step <= bytes.size(); ++step) {
    const Decoded decoded = decode(bytes, step);
    EXPECT_TRUE(decoded.finished) << step;
    EXPECT_EQ(decoded.data, "hello chunked it");
    EXPECT_EQ(bytes.substr(bytes.size() - decoded.left.size()), decoded.left);
  }
  EXPECT_EQ(decode(bytes, bytes.size()).left, "NEXT");
}

TEST(Chunked, TrailersAreKept) {
  ChunkedDecoder decoder;
  ASSERT_EQ(decoder.next("0\r\ngrpc-status: 0\r\n\r\n").value().used, 3u);
  ASSERT_TRUE(decoder.next("grpc-status: 0\r\n\r\n").ok());
  ASSERT_TRUE(decoder.finished());
  ASSERT_EQ(decoder.trailers().size(), 1u);
  EXPECT_EQ(last_chunk(decoder.trailers()), "0\r\ngrpc-status: 0\r\n\r\n");
}

TEST(Chunked, WhatTwoProgramsReadInTwoWaysIsRefused) {
  for (const char* bytes :
       {"5\nhello\r\n", "5\r\nhelloX\r\n", "5\r\nhello\n", "+5\r\n", "-5\r\n", "0x5\r\n", " 5\r\n",
        "5 \r\n", "\r\n", ";x\r\n", "fffffffffffffffff\r\n", "ffffffffffffff\r\n", "5\r;x\r\n",
        "0\r\nContent-Length: 3\r\n\r\n", "0\r\nHost: x\r\n\r\n", "0\r\n X: folded\r\n\r\n",
        "g\r\n"}) {
    EXPECT_FALSE(decode(bytes, 1).ok) << bytes;
  }
  EXPECT_FALSE(decode(std::string(2000, '1'), 7).ok);
}

TEST(Chunked, EmptyDataIsNoChunk) {
  EXPECT_EQ(chunk_of(""), "");
  EXPECT_EQ(chunk_of("0123456789abcdef"), "10\r\n0123456789abcdef\r\n");
  EXPECT_EQ(last_chunk({}), "0\r\n\r\n");
}

}  // namespace
}  // namespace paddock::egress::http
