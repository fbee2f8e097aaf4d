// Addresses in the kernel's form. Only units of net/ include this.
#pragma once

#include <sys/socket.h>

#include <cstdint>

#include "model/ip_address.h"

namespace paddock::net {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  // SAFETY: the storage holds an address of its family, `size` bytes long.
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

SocketAddress socket_address(const model::IpAddress& address, uint16_t port);
// Of an IPv4 or IPv6 address.
uint16_t port_of(const SocketAddress& address);

}  // namespace paddock::net
