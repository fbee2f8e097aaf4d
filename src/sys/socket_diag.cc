#include "sys/socket_diag.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "sys/netlink.h"

namespace paddock::sys {
namespace {

void put(__be32 (&address)[4], __be16& port, const Endpoint& endpoint) {
  std::memcpy(address, endpoint.address.data(), std::min(endpoint.address.size(), sizeof address));
  port = htons(endpoint.port);
}

inet_diag_req_v2 request_for(SocketDiag::Protocol protocol, const Endpoint& local,
                             const Endpoint& remote) {
  inet_diag_req_v2 request{};
  request.sdiag_family = local.address.size() == 16 ? AF_INET6 : AF_INET;
  request.idiag_states = ~0U;
  request.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  put(request.id.idiag_src, request.id.idiag_sport, local);
  put(request.id.idiag_dst, request.id.idiag_dport, remote);
  request.sdiag_protocol = IPPROTO_TCP;
  if (protocol == SocketDiag::Protocol::udp) {
    // The kernel looks for UDP sockets as a packet from `src` to `dst` would (udp_dump_one).
    std::swap(request.id.idiag_src, request.id.idiag_dst);
    std::swap(request.id.idiag_sport, request.id.idiag_dport);
    request.sdiag_protocol = IPPROTO_UDP;
  }
  return request;
}

}  // namespace

Result<SocketDiag> SocketDiag::open() {
  return SocketDiag(PD_TRY(open_netlink(NETLINK_SOCK_DIAG)));
}

std::optional<uint64_t> SocketDiag::find_inode(Protocol protocol, const Endpoint& local,
                                               const Endpoint& remote) const {
  NetlinkBatch batch;
  batch.begin(SOCK_DIAG_BY_FAMILY, 0, request_for(protocol, local, remote));
  batch.end();
  if (::send(socket_.get(), batch.bytes().data(), batch.bytes().size(), 0) < 0) return std::nullopt;
  std::array<char, 4096> buffer;
  const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  nlmsghdr head{};
  inet_diag_msg found{};
  if (n < static_cast<ssize_t>(NLMSG_HDRLEN + sizeof found)) return std::nullopt;
  std::memcpy(&head, buffer.data(), sizeof head);
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
  std::memcpy(&found, buffer.data() + NLMSG_HDRLEN, sizeof found);
  if (found.idiag_inode == 0) return std::nullopt;
  return found.idiag_inode;
}

}  // namespace paddock::sys
