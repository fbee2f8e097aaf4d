#include "sys/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>

#include "base/strings.h"

namespace paddock::sys {
namespace {

constexpr int kBacklog = 8;

// sun_path holds 107 bytes, fewer than many a path: the kernel resolves this link instead.
Result<sockaddr_un> address_of(const DirFd& directory, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(directory.get()) + "/" + name;
  if (path.size() >= sizeof address.sun_path) {
    return Error(Code::invalid_argument, "the name of a socket is too long: " + printable(name));
  }
  std::ranges::copy(path, address.sun_path);
  return address;
}

// SAFETY: every socket address begins like sockaddr; the kernel goes by family and length.
const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Error failure(const char* what, const std::string& name) {
  return Error::from_errno(errno, what + printable(name));
}

}  // namespace

Result<SocketFd> listen_unix(const DirFd& directory, const std::string& name) {
  const sockaddr_un address = PD_TRY(address_of(directory, name));
  SocketFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return failure("making the socket ", name);
  // The file gets the socket's mode: nobody else can connect in between.
  if (::fchmod(socket.get(), 0600) != 0) return failure("closing to others the socket ", name);
  if (::bind(socket.get(), generic(address), sizeof address) != 0) {
    if (errno != EADDRINUSE) return failure("naming the socket ", name);
    return Error(Code::already_exists, "there is a socket " + printable(name) + " already");
  }
  if (::listen(socket.get(), kBacklog) != 0) return failure("listening at ", name);
  return socket;
}

Result<SocketFd> connect_unix(const DirFd& directory, const std::string& name) {
  const sockaddr_un address = PD_TRY(address_of(directory, name));
  SocketFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return failure("making a socket for ", name);
  if (::connect(socket.get(), generic(address), sizeof address) == 0) return socket;
  if (errno != ECONNREFUSED && errno != EAGAIN) return failure("connecting to ", name);
  return Error(Code::unavailable, "connecting to " + printable(name) + ": nobody takes it");
}

}  // namespace paddock::sys
