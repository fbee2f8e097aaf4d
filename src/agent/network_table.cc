#include "agent/network_table.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "sys/netlink.h"
#include "wire/egress.h"

namespace paddock::agent {
namespace {

using sys::NetlinkBatch;

constexpr int kLoopbackIndex = 1;  // in every network namespace
constexpr char kTable[] = "paddock";
constexpr char kChain[] = "output";
constexpr char kRedirectChain[] = "redirect";
constexpr int kBeforeFilter = -100;                    // the priority of destination NAT
constexpr uint32_t kLoggedBytes = 64;                  // both headers, IPv6 too
constexpr uint32_t kNatRangeProtoSpecified = 1u << 1;  // of linux/netfilter/nf_nat.h

constexpr std::string_view kFirstByte("\xff\0\0\0", 4);
constexpr std::string_view kLoopback4("\x7f\0\0\0", 4);
constexpr std::string_view kLoopback6("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);

uint16_t nft(int message) {
  return static_cast<uint16_t>((NFNL_SUBSYS_NFTABLES << 8) | message);
}
uint16_t log(int message) {
  return static_cast<uint16_t>((NFNL_SUBSYS_ULOG << 8) | message);
}

nfgenmsg family(uint8_t number, uint16_t resource = 0) {
  return {.nfgen_family = number, .version = NFNETLINK_V0, .res_id = htons(resource)};
}

// One rule of the chain: expressions are added between construction and end().
class Rule {
 public:
  explicit Rule(NetlinkBatch& batch, const char* chain = kChain, uint16_t more_flags = 0)
      : batch_(batch) {
    batch_.begin(nft(NFT_MSG_NEWRULE),
                 static_cast<uint16_t>(NLM_F_CREATE | NLM_F_APPEND | more_flags),
                 family(NFPROTO_INET));
    batch_.attribute_text(NFTA_RULE_TABLE, kTable);
    batch_.attribute_text(NFTA_RULE_CHAIN, chain);
    expressions_ = batch_.nest(NFTA_RULE_EXPRESSIONS);
  }

  // Compares what `key` says of the packet (NFT_META_*) with `value`.
  Rule& meta_is(uint32_t key, uint8_t value) {
    auto load = expression("meta");
    batch_.attribute_be32(NFTA_META_DREG, NFT_REG_1);
    batch_.attribute_be32(NFTA_META_KEY, key);
    end(load);
    const char byte = static_cast<char>(value);
    return compare(NFT_CMP_EQ, {&byte, 1});
  }

  Rule& load_payload(uint32_t base, uint32_t offset, uint32_t length) {
    auto load = expression("payload");
    batch_.attribute_be32(NFTA_PAYLOAD_DREG, NFT_REG_1);
    batch_.attribute_be32(NFTA_PAYLOAD_BASE, base);
    batch_.attribute_be32(NFTA_PAYLOAD_OFFSET, offset);
    batch_.attribute_be32(NFTA_PAYLOAD_LEN, length);
    end(load);
    return *this;
  }

  Rule& mask(std::string_view bits) {
    auto bitwise = expression("bitwise");
    batch_.attribute_be32(NFTA_BITWISE_SREG, NFT_REG_1);
    batch_.attribute_be32(NFTA_BITWISE_DREG, NFT_REG_1);
    batch_.attribute_be32(NFTA_BITWISE_LEN, static_cast<uint32_t>(bits.size()));
    data(NFTA_BITWISE_MASK, bits);
    data(NFTA_BITWISE_XOR, std::string(bits.size(), '\0'));
    end(bitwise);
    return *this;
  }

  Rule& compare(uint32_t how, std::string_view with) {
    auto cmp = expression("cmp");
    batch_.attribute_be32(NFTA_CMP_SREG, NFT_REG_1);
    batch_.attribute_be32(NFTA_CMP_OP, how);
    data(NFTA_CMP_DATA, with);
    end(cmp);
    return *this;
  }

  Rule& log_to(uint16_t group) {
    auto logged = expression("log");
    batch_.attribute_be16(NFTA_LOG_GROUP, group);
    batch_.attribute_be32(NFTA_LOG_SNAPLEN, kLoggedBytes);
    batch_.attribute_be16(NFTA_LOG_QTHRESHOLD, 1);
    end(logged);
    return *this;
  }

  Rule& reset() {
    auto reject = expression("reject");
    batch_.attribute_be32(NFTA_REJECT_TYPE, NFT_REJECT_TCP_RST);
    end(reject);
    return *this;
  }

  Rule& redirect_to(uint16_t port) {
    const uint16_t value = htons(port);
    auto immediate = expression("immediate");
    batch_.attribute_be32(NFTA_IMMEDIATE_DREG, NFT_REG_1);
    // SAFETY: the number's bytes.
    data(NFTA_IMMEDIATE_DATA, {reinterpret_cast<const char*>(&value), sizeof value});
    end(immediate);
    auto redirect = expression("redir");
    batch_.attribute_be32(NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1);
    batch_.attribute_be32(NFTA_REDIR_FLAGS, kNatRangeProtoSpecified);
    end(redirect);
    return *this;
  }

  Rule& accept() {
    auto immediate = expression("immediate");
    batch_.attribute_be32(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
    const size_t value = batch_.nest(NFTA_IMMEDIATE_DATA);
    const size_t verdict = batch_.nest(NFTA_DATA_VERDICT);
    batch_.attribute_be32(NFTA_VERDICT_CODE, NF_ACCEPT);
    batch_.end_nest(verdict);
    batch_.end_nest(value);
    end(immediate);
    return *this;
  }

  void end() {
    batch_.end_nest(expressions_);
    batch_.end();
  }

 private:
  struct Expression {
    size_t element;
    size_t content;
  };

  Expression expression(const char* name) {
    const size_t element = batch_.nest(NFTA_LIST_ELEM);
    batch_.attribute_text(NFTA_EXPR_NAME, name);
    return {element, batch_.nest(NFTA_EXPR_DATA)};
  }

  void end(Expression expression) {
    batch_.end_nest(expression.content);
    batch_.end_nest(expression.element);
  }

  void data(uint16_t type, std::string_view bytes) {
    const size_t nested = batch_.nest(type);
    batch_.attribute(NFTA_DATA_VALUE, bytes);
    batch_.end_nest(nested);
  }

  NetlinkBatch& batch_;
  size_t expressions_ = 0;
};

struct Chain {
  const char* name;
  const char* type;
  int priority;
  uint32_t policy;
};

void put_table(NetlinkBatch& batch) {
  batch.begin(nft(NFT_MSG_NEWTABLE), NLM_F_CREATE, family(NFPROTO_INET));
  batch.attribute_text(NFTA_TABLE_NAME, kTable);
  batch.end();
}

void put_chain(NetlinkBatch& batch, const Chain& chain) {
  batch.begin(nft(NFT_MSG_NEWCHAIN), NLM_F_CREATE, family(NFPROTO_INET));
  batch.attribute_text(NFTA_CHAIN_TABLE, kTable);
  batch.attribute_text(NFTA_CHAIN_NAME, chain.name);
  const size_t hook = batch.nest(NFTA_CHAIN_HOOK);
  batch.attribute_be32(NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
  batch.attribute_be32(NFTA_HOOK_PRIORITY, static_cast<uint32_t>(chain.priority));
  batch.end_nest(hook);
  batch.attribute_text(NFTA_CHAIN_TYPE, chain.type);
  batch.attribute_be32(NFTA_CHAIN_POLICY, chain.policy);
  batch.end();
}

std::string masked(std::string bytes, std::string_view mask) {
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(bytes[i] & mask[i]);
  return bytes;
}

std::string prefix_mask(uint32_t prefix, size_t bytes) {
  std::string mask(bytes, '\0');
  for (uint32_t bit = 0; bit < prefix; ++bit) {
    mask[bit / 8] = static_cast<char>(static_cast<uint8_t>(mask[bit / 8]) | (0x80u >> bit % 8));
  }
  return mask;
}

// Only from a loopback address, which is what a socket has that did not choose another: the
// listener's answers to others would not pass the table. And never what goes to loopback.
void put_redirect(NetlinkBatch& batch, const wire::AddressBlock& block) {
  const bool v6 = block.address().size() == 16;
  Rule rule(batch, kRedirectChain);
  rule.meta_is(NFT_META_NFPROTO, v6 ? NFPROTO_IPV6 : NFPROTO_IPV4)
      .meta_is(NFT_META_L4PROTO, IPPROTO_TCP);
  if (v6) {
    rule.load_payload(NFT_PAYLOAD_NETWORK_HEADER, 8, 16)
        .compare(NFT_CMP_EQ, kLoopback6)
        .load_payload(NFT_PAYLOAD_NETWORK_HEADER, 24, 16)
        .compare(NFT_CMP_NEQ, kLoopback6);
  } else {
    rule.load_payload(NFT_PAYLOAD_NETWORK_HEADER, 12, 4)
        .mask(kFirstByte)
        .compare(NFT_CMP_EQ, kLoopback4)
        .load_payload(NFT_PAYLOAD_NETWORK_HEADER, 16, 4)
        .mask(kFirstByte)
        .compare(NFT_CMP_NEQ, kLoopback4);
  }
  if (block.prefix() > 0) {
    const std::string mask = prefix_mask(block.prefix(), block.address().size());
    rule.load_payload(NFT_PAYLOAD_NETWORK_HEADER, v6 ? 24 : 16, v6 ? 16 : 4)
        .mask(mask)
        .compare(NFT_CMP_EQ, masked(block.address(), mask));
  }
  rule.redirect_to(kWayOutPort).end();
}

Status put_redirects(NetlinkBatch& batch, const wire::Egress& egress) {
  if (egress.redirected_size() == 0) return {};
  if (egress.redirected_size() > static_cast<int>(wire::kMaxRedirected)) {
    return Error(Code::invalid_argument, "too many blocks of addresses to redirect");
  }
  put_chain(batch, {kRedirectChain, "nat", kBeforeFilter, NF_ACCEPT});
  for (const wire::AddressBlock& block : egress.redirected()) {
    const size_t size = block.address().size();
    if ((size != 4 && size != 16) || block.prefix() > size * 8) {
      return Error(Code::invalid_argument, "a block of addresses that is none");
    }
    put_redirect(batch, block);
  }
  return {};
}

void put_refusals(NetlinkBatch& batch) {
  constexpr std::string_view kRstFlag("\x04", 1);
  constexpr std::string_view kNone("\0", 1);
  Rule(batch)
      .meta_is(NFT_META_NFPROTO, NFPROTO_IPV4)
      .load_payload(NFT_PAYLOAD_NETWORK_HEADER, 16, 4)
      .mask(kFirstByte)
      .compare(NFT_CMP_EQ, kLoopback4)
      .accept()
      .end();
  Rule(batch)
      .meta_is(NFT_META_NFPROTO, NFPROTO_IPV6)
      .load_payload(NFT_PAYLOAD_NETWORK_HEADER, 24, 16)
      .compare(NFT_CMP_EQ, kLoopback6)
      .accept()
      .end();
  // The reset that answers a refused connection goes to the address it came from, which need not be
  // a loopback address (bind(2) first). It leaves nothing but this namespace's own loopback.
  Rule(batch)
      .meta_is(NFT_META_L4PROTO, IPPROTO_TCP)
      .load_payload(NFT_PAYLOAD_TRANSPORT_HEADER, 13, 1)
      .mask(kRstFlag)
      .compare(NFT_CMP_NEQ, kNone)
      .accept()
      .end();
  Rule(batch).log_to(kRefusalGroup).end();
  Rule(batch, kChain, NLM_F_ACK).meta_is(NFT_META_L4PROTO, IPPROTO_TCP).reset().end();
}

Status load_table(const sys::SocketFd& socket, const wire::Egress& egress) {
  NetlinkBatch batch;
  batch.begin(NFNL_MSG_BATCH_BEGIN, 0, family(AF_UNSPEC, NFNL_SUBSYS_NFTABLES));
  batch.end();
  put_table(batch);
  PD_TRY(put_redirects(batch, egress));
  put_chain(batch, {kChain, "filter", 0, NF_DROP});
  put_refusals(batch);
  batch.begin(NFNL_MSG_BATCH_END, 0, family(AF_UNSPEC, NFNL_SUBSYS_NFTABLES));
  batch.end();
  return sys::transact(socket, batch);
}

// Each refusal is delivered at once and in a small buffer: by default the kernel waits for a
// hundred or a second, and takes a page for each.
Status bind_log(const sys::SocketFd& socket) {
  NetlinkBatch batch;
  batch.begin(log(NFULNL_MSG_CONFIG), NLM_F_ACK, family(AF_UNSPEC, kRefusalGroup));
  batch.attribute_u8(NFULA_CFG_CMD, NFULNL_CFG_CMD_BIND);
  nfulnl_msg_config_mode mode{.copy_range = htonl(kLoggedBytes), .copy_mode = NFULNL_COPY_PACKET};
  // SAFETY: the structure's bytes, as the kernel reads them.
  batch.attribute(NFULA_CFG_MODE, {reinterpret_cast<const char*>(&mode), sizeof mode});
  batch.attribute_be32(NFULA_CFG_QTHRESH, 1);
  batch.attribute_be32(NFULA_CFG_NLBUFSIZ, 512);
  batch.end();
  PD_TRY(sys::transact(socket, batch));
  // Room for some thousand refusals between two looks. Without it: the default's few hundred.
  const int bytes = 2 << 20;
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
  return {};
}

// A default route of type local: packets to any address are delivered here. The source is a
// loopback address, so that answers pass the table.
void put_local_route(NetlinkBatch& batch, uint8_t address_family, std::string_view source) {
  rtmsg route{};
  route.rtm_family = address_family;
  route.rtm_table = RT_TABLE_MAIN;
  route.rtm_protocol = RTPROT_STATIC;
  route.rtm_scope = RT_SCOPE_HOST;
  route.rtm_type = RTN_LOCAL;
  batch.begin(RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE, route);
  batch.attribute_u32(RTA_OIF, kLoopbackIndex);
  batch.attribute(RTA_PREFSRC, source);
  batch.end();
}

}  // namespace

Status bring_loopback_up() {
  const sys::SocketFd socket = PD_TRY(sys::open_netlink(NETLINK_ROUTE));
  NetlinkBatch batch;
  ifinfomsg link{};
  link.ifi_index = kLoopbackIndex;
  link.ifi_flags = IFF_UP;
  link.ifi_change = IFF_UP;
  batch.begin(RTM_NEWLINK, NLM_F_ACK, link);
  batch.end();
  return sys::transact(socket, batch).with_context("bringing loopback up");
}

Result<sys::SocketFd> install_network_table(const wire::Egress& egress) {
  sys::SocketFd socket = PD_TRY(sys::open_netlink(NETLINK_NETFILTER));
  PD_TRY_CTX("binding nflog", bind_log(socket));
  PD_TRY_CTX("installing the nftables table", load_table(socket, egress));
  return socket;
}

Status route_everything_to_loopback() {
  const sys::SocketFd socket = PD_TRY(sys::open_netlink(NETLINK_ROUTE));
  NetlinkBatch batch6;
  put_local_route(batch6, AF_INET6, {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16});
  Status routed6 = sys::transact(socket, batch6);
  // Where IPv6 is missing or switched off, its sends fail without a route, too.
  const int error = routed6.ok() ? 0 : routed6.error().errno_value();
  if (error != 0 && error != EAFNOSUPPORT && error != EOPNOTSUPP && error != EACCES) {
    return std::move(routed6).with_context("routing IPv6 to loopback");
  }
  NetlinkBatch batch4;
  put_local_route(batch4, AF_INET, {"\x7f\0\0\1", 4});
  return sys::transact(socket, batch4).with_context("routing IPv4 to loopback");
}

}  // namespace paddock::agent
