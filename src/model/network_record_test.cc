#include "model/network_record.h"

#include <gtest/gtest.h>

namespace paddock::model {
namespace {

TEST(NetworkRecord, ComesBackAsItWasKept) {
  EgressEvent event;
  event.kind = EgressEventKind::request;
  event.verdict = EgressVerdict::audited;
  event.host = "api.example";
  event.port = 443;
  event.protocol = "h2";
  event.rule = "egress:api";
  event.reason = "why";
  event.remedy = "ask";
  event.address = "192.0.2.1";
  event.method = "GET";
  event.path = "/a\xff";
  event.status = 200;
  event.request_bytes = 1;
  event.response_bytes = UINT64_MAX;
  event.duration_us = 3;
  event.credentials = {"token"};
  event.pid = 7;
  event.process = "curl";
  event.time_ms = 1'700'000'000'000;
  const NetworkRecord record{.events = {event, {}}, .dropped = 9};
  auto read = decode_network_record(encode(record));
  ASSERT_TRUE(read.ok()) << read.error().describe();
  EXPECT_EQ(encode(*read), encode(record));
  EXPECT_EQ(read->events[0].path, event.path);
  EXPECT_EQ(read->events[0].response_bytes, UINT64_MAX);
  EXPECT_EQ(read->dropped, 9u);
}

TEST(NetworkRecord, NothingIsNoText) {
  EXPECT_EQ(encode(NetworkRecord()), "");
  EXPECT_TRUE(decode_network_record("")->empty());
}

TEST(NetworkRecord, WhatIsNoneIsAnError) {
  for (const char* text : {"x", "[]", "{}", "{\"events\": [1]}", "{\"events\": [{}]}",
                           "{\"events\": [{\"kind\": \"name\", \"verdict\": \"allowed\", "
                           "\"port\": 70000}]}"}) {
    EXPECT_FALSE(decode_network_record(text).ok()) << text;
  }
}

}  // namespace
}  // namespace paddock::model
