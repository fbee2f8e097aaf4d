#include "agent/packet_log.h"

#include <gtest/gtest.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>

#include "sys/netlink.h"

namespace paddock::agent {
namespace {

using namespace std::string_literals;

std::string ipv4(char protocol, std::string_view transport) {
  return "\x45\0\0\x3c\0\0\0\0\x40"s + protocol + "\0\0\x7f\0\0\1\xcb\0\x71\7"s +
         std::string(transport);
}

std::string ipv6(char protocol, std::string_view transport) {
  return "\x60\0\0\0\0\x14"s + protocol + "\x40"s + std::string(16, '\1') +
         "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"s + std::string(transport);
}

TEST(PacketLog, NamesProtocolAddressAndPort) {
  EXPECT_EQ(describe_packet(ipv4(6, "\x80\0\1\xbb"s)), "tcp 203.0.113.7:443");
  EXPECT_EQ(describe_packet(ipv4(17, "\x80\0\0\x35"s)), "udp 203.0.113.7:53");
  EXPECT_EQ(describe_packet(ipv6(6, "\x80\0\1\xbb"s)), "tcp [2001:db8::1]:443");
  EXPECT_EQ(describe_packet(ipv4(1, "\x08\0\0\0"s)), "icmp 203.0.113.7");
  EXPECT_EQ(describe_packet(ipv4(47, "")), "protocol 47 203.0.113.7");
}

TEST(PacketLog, SkipsOptionsOfTheIpHeader) {
  std::string packet = ipv4(6, "\1\1\1\1\x80\0\1\xbb"s);
  packet[0] = '\x46';
  EXPECT_EQ(describe_packet(packet), "tcp 203.0.113.7:443");
}

TEST(PacketLog, SaysWhatItCanOfACutPacket) {
  EXPECT_EQ(describe_packet(ipv4(6, "\x80")), "tcp 203.0.113.7");
  std::string beyond = ipv4(6, "");
  beyond[0] = '\x4f';
  EXPECT_EQ(describe_packet(beyond), "tcp 203.0.113.7");
  const std::string whole = ipv6(6, "");
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_EQ(describe_packet(whole.substr(0, n)), "");
}

TEST(PacketLog, ReadsEachPacketOfADatagram) {
  sys::NetlinkBatch batch;
  for (char last : {'\1', '\2'}) {
    batch.begin((NFNL_SUBSYS_ULOG << 8) | NFULNL_MSG_PACKET, 0, nfgenmsg{});
    batch.attribute_u32(NFULA_MARK, 7);
    batch.attribute(NFULA_PAYLOAD, ipv4(6, "\x80\0\0"s + last));
    batch.end();
  }
  EXPECT_EQ(parse_packet_log(batch.bytes()),
            (std::vector<std::string>{"tcp 203.0.113.7:1", "tcp 203.0.113.7:2"}));
  for (size_t n = 0; n < batch.bytes().size(); ++n) {
    EXPECT_LE(parse_packet_log(std::string_view(batch.bytes()).substr(0, n)).size(), 1u);
  }
}

}  // namespace
}  // namespace paddock::agent
