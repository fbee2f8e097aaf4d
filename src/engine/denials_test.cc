#include "engine/denials.h"

#include <gtest/gtest.h>

namespace paddock::engine {
namespace {

wire::Denied denied(wire::Denied::Kind kind, const std::string& what, uint64_t count = 1) {
  wire::Denied message;
  message.set_kind(kind);
  message.set_what(what);
  message.set_process("sh");
  message.set_count(count);
  return message;
}

TEST(Denials, EqualOnesAreOneRecordWithACount) {
  Denials denials;
  denials.add(denied(wire::Denied::SYSCALL, "ptrace", 2));
  denials.add(denied(wire::Denied::SYSCALL, "ptrace", 3));
  denials.add(denied(wire::Denied::NAME, "ptrace"));
  auto records = denials.take_records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].count, 5u);
  EXPECT_EQ(records[0].rule, "seccomp:ptrace");
  EXPECT_EQ(records[1].kind, model::DenialKind::name);
  EXPECT_FALSE(records[1].remedy.empty());
}

TEST(Denials, AFloodIsCountedAndNotKept) {
  Denials denials;
  for (size_t i = 0; i < kMaxDenials + 10; ++i) {
    denials.add(denied(wire::Denied::NAME, std::to_string(i) + std::string(100'000, 'x')));
  }
  EXPECT_EQ(denials.dropped(), 10u);
  for (const model::Denial& record : denials.take_records()) EXPECT_LE(record.what.size(), 512u);
}

TEST(Denials, WhatTheAgentDroppedIsCountedOnce) {
  Denials denials;
  for (uint64_t dropped : {3u, 7u}) {
    wire::Denied message = denied(wire::Denied::SYSCALL, "bpf");
    message.set_dropped(dropped);
    denials.add(message);
  }
  EXPECT_EQ(denials.dropped(), 7u);
}

TEST(Denials, SayHowToAskForAWayOut) {
  Denials denials;
  for (const auto& [kind, what] : {std::pair(wire::Denied::NAME, "a.example"),
                                   {wire::Denied::NETWORK, "tcp 192.0.2.1:443"},
                                   {wire::Denied::NETWORK, "udp 192.0.2.1:53"}}) {
    wire::Denied denied;
    denied.set_kind(kind);
    denied.set_what(what);
    denials.add(denied);
  }
  const auto records = denials.take_records();
  EXPECT_EQ(records[0].remedy, "--allow a.example");
  EXPECT_EQ(records[1].remedy, "--allow 192.0.2.1:443");
  EXPECT_EQ(records[2].remedy, "only TCP leaves a sandbox, to what --allow or policy names");
  EXPECT_EQ(records[0].rule, "egress");
}

}  // namespace
}  // namespace paddock::engine
