// Known answers: the published test suite of Signature Version 4 and the examples of the S3 manual.
#include "egress/credentials/sigv4.h"

#include <gtest/gtest.h>

#include "egress/credentials/aws_chunks.h"
#include "sys/digest.h"

namespace paddock::egress {
namespace {

const AwsKey kS3Key{Secret("AKIAIOSFODNN7EXAMPLE"),
                    Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")};
const AwsKey kSuiteKey{Secret("AKIDEXAMPLE"), Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")};
const std::string kEmptyHash = sys::sha256_hex("");

struct Case {
  std::string method = "GET";
  std::string target = "/";
  http::Fields fields{};
  std::string signed_headers;
  std::string hash = kEmptyHash;
};

// As a program inside sends it: its placeholder for the id, a signature of no use.
http::Request s3_request(const Case& given) {
  http::Request request{.method = given.method,
                        .target = given.target,
                        .authority = "examplebucket.s3.amazonaws.com",
                        .fields = given.fields};
  request.fields.push_back({"x-amz-content-sha256", given.hash});
  request.fields.push_back({"x-amz-date", "20130524T000000Z"});
  request.fields.push_back(
      {"authorization",
       "AWS4-HMAC-SHA256 Credential=AKIAPLACEHOLDER/20130524/us-east-1/s3/aws4_request, "
       "SignedHeaders=" +
           given.signed_headers + ",Signature=00"});
  return request;
}

std::string signature(http::Request request, const AwsKey& key,
                      std::string_view body_hash = kEmptyHash) {
  const SigV4Claim claim = find_sigv4(request).value().value();
  return sign_again(request, claim, key, body_hash).hex;
}

TEST(SigV4, ExamplesOfTheS3ManualHold) {
  EXPECT_EQ(signature(s3_request({.target = "/test.txt",
                                  .fields = {{"range", "bytes=0-9"}},
                                  .signed_headers = "host;range;x-amz-content-sha256;x-amz-date"}),
                      kS3Key),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(signature(s3_request({.method = "PUT",
                                  .target = "/test%24file.text",
                                  .fields = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                                             {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                                  .signed_headers = "date;host;x-amz-content-sha256;x-amz-date;"
                                                    "x-amz-storage-class",
                                  .hash = sys::sha256_hex("Welcome to Amazon S3.")}),
                      kS3Key),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  const std::string plain = "host;x-amz-content-sha256;x-amz-date";
  EXPECT_EQ(signature(s3_request({.target = "/?lifecycle", .signed_headers = plain}), kS3Key),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  EXPECT_EQ(
      signature(s3_request({.target = "/?prefix=J&max-keys=2", .signed_headers = plain}), kS3Key),
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(SigV4, APresignedUrlIsSignedAgain) {
  http::Request request{
      .method = "GET",
      .target =
          "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAPLACEHOLDER%2F20130524%"
          "2F"
          "us-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&"
          "X-Amz-SignedHeaders=host&X-Amz-Signature=00",
      .authority = "examplebucket.s3.amazonaws.com",
      .fields = {}};
  const SigV4Claim claim = find_sigv4(request).value().value();
  EXPECT_EQ(claim.key_id, "AKIAPLACEHOLDER");
  const std::string hex = sign_again(request, claim, kS3Key, "").hex;
  EXPECT_EQ(hex, "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
  EXPECT_NE(request.target.find("AKIAIOSFODNN7EXAMPLE%2F20130524"), std::string::npos);
  EXPECT_TRUE(request.target.ends_with("X-Amz-Signature=" + hex));
  EXPECT_EQ(request.target.find("PLACEHOLDER"), std::string::npos);
}

http::Request suite_request(std::string target, http::Fields fields,
                            const std::string& signed_headers) {
  http::Request request{.method = "GET",
                        .target = std::move(target),
                        .authority = "example.amazonaws.com",
                        .fields = std::move(fields)};
  request.fields.push_back({"x-amz-date", "20150830T123600Z"});
  request.fields.push_back(
      {"authorization",
       "AWS4-HMAC-SHA256 Credential=X/20150830/us-east-1/service/aws4_request, "
       "SignedHeaders=" +
           signed_headers + ", Signature=00"});
  return request;
}

TEST(SigV4, TheTestSuiteHolds) {
  const std::string vanilla = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
  EXPECT_EQ(signature(suite_request("/", {}, "host;x-amz-date"), kSuiteKey), vanilla);
  // get-relative, get-slash, get-slash-dot-slash resolve to the same path.
  for (const char* target : {"/example/..", "//", "/./"}) {
    EXPECT_EQ(signature(suite_request(target, {}, "host;x-amz-date"), kSuiteKey), vanilla)
        << target;
  }
  EXPECT_EQ(
      signature(suite_request("/?Param2=value2&Param1=value1", {}, "host;x-amz-date"), kSuiteKey),
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

TEST(SigV4, TheHeaderIsReplacedAndNothingElse) {
  http::Request request = s3_request({.signed_headers = "host;x-amz-content-sha256;x-amz-date"});
  const size_t fields = request.fields.size();
  const SigV4Claim claim = find_sigv4(request).value().value();
  EXPECT_EQ(payload_of(request, claim), SigV4Payload::declared);
  const SigV4Signature signed_again = sign_again(request, claim, kS3Key, "");
  EXPECT_EQ(request.fields.size(), fields);
  EXPECT_EQ(http::find_field(request.fields, "authorization")->value,
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=" +
                signed_again.hex);
}

TEST(SigV4, HowThePayloadTakesPart) {
  http::Request chunks =
      s3_request({.signed_headers = "host", .hash = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"});
  EXPECT_EQ(payload_of(chunks, find_sigv4(chunks).value().value()), SigV4Payload::in_chunks);
  http::Request unsigned_trailer =
      s3_request({.signed_headers = "host", .hash = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"});
  EXPECT_EQ(payload_of(unsigned_trailer, find_sigv4(unsigned_trailer).value().value()),
            SigV4Payload::declared);
  http::Request other = suite_request("/", {}, "host");
  EXPECT_EQ(payload_of(other, find_sigv4(other).value().value()), SigV4Payload::of_body);
}

TEST(SigV4, OtherSchemesAreNotTaken) {
  http::Request request{
      .method = "GET", .target = "/", .authority = "a", .fields = {{"authorization", "Bearer x"}}};
  EXPECT_FALSE(find_sigv4(request).value().has_value());
}

TEST(SigV4, WhatCannotBeRepeatedIsRefused) {
  for (const char* value :
       {"AWS4-HMAC-SHA256 x", "AWS4-HMAC-SHA256 Credential=a/b,SignedHeaders=host,Signature=0",
        "AWS4-HMAC-SHA256 Credential=a/20130524/r/s3/aws4_request,SignedHeaders=date,Signature=0",
        "AWS4-HMAC-SHA256 "
        "Credential=a/20140524/r/s3/aws4_request,SignedHeaders=host,Signature=0"}) {
    http::Request request{.method = "GET",
                          .target = "/",
                          .authority = "a",
                          .fields = {{"x-amz-date", "20130524T000000Z"}, {"authorization", value}}};
    EXPECT_FALSE(find_sigv4(request).ok()) << value;
  }
}

TEST(AwsChunks, TheUploadExampleOfTheS3ManualHolds) {
  http::Request request{
      .method = "PUT",
      .target = "/examplebucket/chunkObject.txt",
      .authority = "s3.amazonaws.com",
      .fields = {{"x-amz-date", "20130524T000000Z"},
                 {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                 {"x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"},
                 {"content-encoding", "aws-chunked"},
                 {"x-amz-decoded-content-length", "66560"},
                 {"content-length", "66824"},
                 {"authorization",
                  "AWS4-HMAC-SHA256 Credential=P/20130524/us-east-1/s3/aws4_request,"
                  "SignedHeaders=content-encoding;content-length;host;x-amz-content-sha256;"
                  "x-amz-date;x-amz-decoded-content-length;x-amz-storage-class,Signature=0"}}};
  const SigV4Signature seed = sign_again(request, find_sigv4(request).value().value(), kS3Key, "");
  EXPECT_EQ(seed.hex, "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9");
  auto body = [](const char* a, const char* b, const char* c) {
    return "10000;chunk-signature=" + std::string(a) + "\r\n" + std::string(65536, 'a') +
           "\r\n400;chunk-signature=" + b + "\r\n" + std::string(1024, 'a') +
           "\r\n0;chunk-signature=" + c + "\r\n\r\n";
  };
  const std::string inside = body("00", "11", "22");
  for (size_t step : {size_t{7}, size_t{1000}, inside.size()}) {
    AwsChunkSigner signer(seed);
    std::string out;
    for (size_t at = 0; at < inside.size(); at += step)
      ASSERT_TRUE(signer.feed(inside.substr(at, step), out).ok());
    EXPECT_TRUE(signer.finished());
    EXPECT_EQ(out, body("ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
                        "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
                        "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"));
  }
}

TEST(AwsChunks, WhatIsNoSignedChunkIsRefused) {
  auto feed = [](const std::string& bytes) {
    AwsChunkSigner signer({.hex = "0", .signing_key = "k", .time = "t", .scope = "s"});
    std::string out;
    return signer.feed(bytes, out).ok();
  };
  EXPECT_TRUE(
      feed("5;chunk-signature=0\r\nhello\r\n0;chunk-signature=0\r\nx-amz-checksum-crc32:AAAA\r\n"
           "x-amz-trailer-signature:00\r\n\r\n"));
  EXPECT_FALSE(feed("5\r\nhello\r\n"));
  EXPECT_FALSE(feed("5;chunk-signature=0\r\nhelloXX"));
  EXPECT_FALSE(feed("ffffffff;chunk-signature=0\r\n"));
  EXPECT_FALSE(feed("0;chunk-signature=0\r\n\r\nmore"));
  EXPECT_FALSE(feed(std::string(1000, '1')));
}

}  // namespace
}  // namespace paddock::egress
