#include "sys/original_destination.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

namespace paddock::sys {
namespace {

// SO_ORIGINAL_DST and IP6T_SO_ORIGINAL_DST: their headers clash with the C library's.
constexpr int kOriginalDestination = 80;

Endpoint endpoint_of(const sockaddr_storage& address) {
  // SAFETY: the family says which one it is.
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    return {{reinterpret_cast<const char*>(&v6.sin6_addr), 16}, ntohs(v6.sin6_port)};
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
  return {{reinterpret_cast<const char*>(&v4.sin_addr), 4}, ntohs(v4.sin_port)};
}

using NameCall = int (*)(int, sockaddr*, socklen_t*);

Result<sockaddr_storage> name_of(const SocketFd& socket, NameCall call) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  // SAFETY: every socket address is passed as a sockaddr.
  if (call(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return Error::from_errno(errno, "asking for a socket's address");
  }
  return address;
}

}  // namespace

Result<Endpoint> original_destination(const SocketFd& accepted) {
  const sockaddr_storage local = PD_TRY(name_of(
      accepted, [](int fd, sockaddr* to, socklen_t* size) { return ::getsockname(fd, to, size); }));
  sockaddr_storage original{};
  socklen_t size = sizeof original;
  const bool v6 = local.ss_family == AF_INET6;
  if (::getsockopt(accepted.get(), v6 ? SOL_IPV6 : SOL_IP, kOriginalDestination, &original,
                   &size) != 0) {
    return Error::from_errno(errno, "asking where a connection was going");
  }
  original.ss_family = local.ss_family;
  Endpoint to = endpoint_of(original);
  if (to == endpoint_of(local)) {
    return Error(Code::invalid_argument, "the connection was not redirected");
  }
  return to;
}

Result<Endpoint> peer_of(const SocketFd& socket) {
  return endpoint_of(PD_TRY(name_of(
      socket, [](int fd, sockaddr* to, socklen_t* size) { return ::getpeername(fd, to, size); })));
}

}  // namespace paddock::sys
