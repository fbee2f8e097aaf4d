#include "net/socket_address.h"

#include <netinet/in.h>

#include <cstring>

namespace paddock::net {

SocketAddress socket_address(const model::IpAddress& address, uint16_t port) {
  SocketAddress out;
  if (address.is_v4()) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, address.bytes().data(), 4);
    std::memcpy(&out.storage, &v4, sizeof v4);
    out.size = sizeof v4;
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, address.bytes().data(), 16);
    std::memcpy(&out.storage, &v6, sizeof v6);
    out.size = sizeof v6;
  }
  return out;
}

uint16_t port_of(const SocketAddress& address) {
  if (address.family() == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address.storage, sizeof v4);
    return ntohs(v4.sin_port);
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address.storage, sizeof v6);
  return ntohs(v6.sin6_port);
}

}  // namespace paddock::net
