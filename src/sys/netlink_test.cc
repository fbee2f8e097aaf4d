#include "sys/netlink.h"

#include <gtest/gtest.h>
#include <linux/rtnetlink.h>

#include <cstring>

namespace paddock::sys {
namespace {

TEST(NetlinkBatch, PadsAttributesAndFillsInLengths) {
  NetlinkBatch batch;
  batch.begin(RTM_NEWROUTE, NLM_F_ACK, rtmsg{});
  const size_t nested = batch.nest(7);
  batch.attribute(1, "abcde");
  batch.end_nest(nested);
  batch.end();

  nlmsghdr head{};
  std::memcpy(&head, batch.bytes().data(), sizeof head);
  EXPECT_EQ(head.nlmsg_len, batch.bytes().size());
  EXPECT_EQ(head.nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
  nlattr outer{};
  nlattr inner{};
  std::memcpy(&outer, batch.bytes().data() + sizeof head + sizeof(rtmsg), sizeof outer);
  std::memcpy(&inner, batch.bytes().data() + sizeof head + sizeof(rtmsg) + sizeof outer,
              sizeof inner);
  EXPECT_EQ(outer.nla_type, 7 | NLA_F_NESTED);
  EXPECT_EQ(outer.nla_len, sizeof outer + sizeof inner + 8);
  EXPECT_EQ(inner.nla_len, sizeof inner + 5);
}

TEST(Netlink, ReportsWhatTheKernelRefuses) {
  auto socket = open_netlink(NETLINK_ROUTE);
  ASSERT_TRUE(socket.ok());
  NetlinkBatch batch;
  ifinfomsg link{};
  link.ifi_index = 0x7fffffff;  // there is none
  batch.begin(RTM_SETLINK, NLM_F_ACK, link);
  batch.end();
  Status status = transact(*socket, batch);
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(status.error().errno_value() == ENODEV || status.error().errno_value() == EPERM)
      << status.error().describe();
}

}  // namespace
}  // namespace paddock::sys
