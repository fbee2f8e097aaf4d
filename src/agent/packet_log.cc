#include "agent/packet_log.h"

#include <arpa/inet.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netlink.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

namespace paddock::agent {
namespace {

struct Destination {
  int family;
  std::string_view address;
  uint8_t protocol;
  std::string_view transport;  // from the transport header on
};

std::optional<Destination> find_destination(std::string_view packet) {
  if (packet.size() < 20) return std::nullopt;
  const auto first = static_cast<uint8_t>(packet[0]);
  if (first >> 4 == 4) {
    const size_t header = (first & 0xfu) * 4;
    return Destination{AF_INET, packet.substr(16, 4), static_cast<uint8_t>(packet[9]),
                       packet.substr(std::min(header, packet.size()))};
  }
  if (first >> 4 != 6 || packet.size() < 40) return std::nullopt;
  return Destination{AF_INET6, packet.substr(24, 16), static_cast<uint8_t>(packet[6]),
                     packet.substr(40)};
}

std::string name_of_protocol(uint8_t protocol) {
  switch (protocol) {
    case IPPROTO_TCP:
      return "tcp";
    case IPPROTO_UDP:
      return "udp";
    case IPPROTO_ICMP:
      return "icmp";
    case IPPROTO_ICMPV6:
      return "icmpv6";
    default:
      return "protocol " + std::to_string(protocol);
  }
}

bool has_ports(uint8_t protocol) {
  return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE ||
         protocol == IPPROTO_SCTP || protocol == IPPROTO_DCCP;
}

template <typename T>
std::optional<T> take(std::string_view bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string_view drop(std::string_view bytes, size_t count) {
  return bytes.substr(std::min(bytes.size(), count));
}

// The payload attribute among `attributes`; empty when there is none.
std::string_view find_payload(std::string_view attributes) {
  while (auto head = take<nlattr>(attributes)) {
    if (head->nla_len < sizeof *head || head->nla_len > attributes.size()) break;
    if ((head->nla_type & NLA_TYPE_MASK) == NFULA_PAYLOAD) {
      return attributes.substr(sizeof *head, head->nla_len - sizeof *head);
    }
    attributes = drop(attributes, NLMSG_ALIGN(head->nla_len));
  }
  return {};
}

}  // namespace

std::string describe_packet(std::string_view packet) {
  const auto to = find_destination(packet);
  if (!to) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(to->family, to->address.data(), text.data(), text.size());
  std::string out = name_of_protocol(to->protocol) + " ";
  const bool ports = has_ports(to->protocol) && to->transport.size() >= 4;
  if (!ports) return out + text.data();
  out += to->family == AF_INET6 ? "[" + std::string(text.data()) + "]" : text.data();
  return out + ":" + std::to_string(ntohs(*take<uint16_t>(to->transport.substr(2))));
}

std::vector<std::string> parse_packet_log(std::string_view datagram) {
  std::vector<std::string> refused;
  while (auto head = take<nlmsghdr>(datagram)) {
    if (head->nlmsg_len < sizeof *head || head->nlmsg_len > datagram.size()) break;
    if (head->nlmsg_type == ((NFNL_SUBSYS_ULOG << 8) | NFULNL_MSG_PACKET)) {
      const auto body = datagram.substr(0, head->nlmsg_len);
      std::string text = describe_packet(find_payload(drop(body, sizeof *head + sizeof(nfgenmsg))));
      if (!text.empty()) refused.push_back(std::move(text));
    }
    datagram = drop(datagram, NLMSG_ALIGN(head->nlmsg_len));
  }
  return refused;
}

}  // namespace paddock::agent
