#include "sys/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::sys {
namespace {

// sun_path holds 107 bytes, fewer than many a path: the kernel resolves a link to the descriptor
// instead.
Result<sockaddr_un> address_of(const Fd& fd, const std::string& below) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(fd.get()) + below;
  if (path.size() >= sizeof address.sun_path) {
    return Error(Code::invalid_argument, "the name of a socket is too long: " + printable(below));
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

Result<SocketFd> listen_unix(const DirFd& directory, const std::string& name,
                             const Listening& how) {
  const sockaddr_un address = PD_TRY(address_of(directory, "/" + name));
  SocketFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return failure("making the socket ", name);
  // The file gets the socket's mode, less the umask: nobody else can connect in between.
  if (::fchmod(socket.get(), how.mode) != 0) return failure("setting the mode of ", name);
  if (::bind(socket.get(), generic(address), sizeof address) != 0) {
    if (errno != EADDRINUSE) return failure("naming the socket ", name);
    return Error(Code::already_exists, "there is a socket " + printable(name) + " already");
  }
  if (::chmod(address.sun_path, how.mode) != 0) return failure("setting the mode of ", name);
  if (::listen(socket.get(), how.backlog) != 0) return failure("listening at ", name);
  return socket;
}

Result<SocketFd> connect_unix(const DirFd& directory, const std::string& name,
                              std::optional<uid_t> owner) {
  // The file that is looked at is the one that is connected to.
  const Fd file = PD_TRY(open_beneath(directory, name, O_PATH | O_NOFOLLOW));
  struct stat st {};
  if (::fstat(file.get(), &st) != 0) return failure("looking at the socket ", name);
  if (!S_ISSOCK(st.st_mode)) {
    return Error(Code::failed_precondition, printable(name) + " is not a socket");
  }
  if (owner && st.st_uid != *owner) {
    return Error(Code::permission_denied,
                 printable(name) + " belongs to another user than it did at first");
  }
  const sockaddr_un address = PD_TRY(address_of(file, ""));
  SocketFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return failure("making a socket for ", name);
  if (::connect(socket.get(), generic(address), sizeof address) == 0) return socket;
  return failure("connecting to the socket ", name);
}

Result<PeerCredentials> peer_credentials(const SocketFd& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return Error::from_errno(errno, "asking who is at the other end of the socket");
  }
  return PeerCredentials{.pid = peer.pid, .uid = peer.uid, .gid = peer.gid};
}

}  // namespace paddock::sys
