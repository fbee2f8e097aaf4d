#include "net/listener.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/socket_address.h"
#include "net/task_impl.h"
#include "sys/files.h"

namespace paddock::net {
namespace {

constexpr int kBacklog = 1024;
constexpr std::chrono::milliseconds kShortage{50};

using Descriptor = boost::asio::posix::stream_descriptor;

Result<sys::SocketFd> listen_on(const SocketAddress& at, const std::string& name) {
  sys::SocketFd socket(::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return Error::from_errno(errno, "making a socket");
  const int yes = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (at.family() == AF_INET6) {
    setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  }
  if (bind(socket.get(), at.get(), at.size) != 0) {
    const int error = errno;
    if (error == EADDRINUSE) {
      return Error(Code::already_exists, fmt::format("listening on {}: the port is in use", name))
          .set_remedy("end what listens there, or choose another port with --listen");
    }
    return Error::from_errno(error, "listening on " + name);
  }
  if (listen(socket.get(), kBacklog) != 0) return Error::from_errno(errno, "listening on " + name);
  return socket;
}

// By a descriptor of its directory: a path may be longer than an address of a socket can be.
Result<sys::SocketFd> listen_at(const std::string& path) {
  const size_t slash = path.rfind('/');
  const sys::DirFd directory = PD_TRY(sys::open_dir(path.substr(0, slash + 1)));
  const std::string name = path.substr(slash + 1);
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  const std::string by_fd = fmt::format("/proc/self/fd/{}/{}", directory.get(), name);
  if (by_fd.size() >= sizeof address.sun_path) {
    return Error(Code::invalid_argument, "a name that is too long for a socket: " + name);
  }
  std::memcpy(address.sun_path, by_fd.c_str(), by_fd.size() + 1);
  sys::SocketFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return Error::from_errno(errno, "making a socket");
  // bind(2) gives the file the mode that the socket has by then (net/unix/af_unix.c).
  if (::fchmod(socket.get(), 0600) != 0) return Error::from_errno(errno, "making a socket");
  if (::unlinkat(directory.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    return Error::from_errno(errno, "replacing " + path);
  }
  // SAFETY: the sockets API takes every address as a sockaddr.
  if (::bind(socket.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return Error::from_errno(errno, "listening on " + path);
  }
  return socket;
}

// The peer is gone again, or the network had something to say about it (accept(2)).
bool is_peers(int error) {
  switch (error) {
    case ECONNABORTED:
    case EINTR:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

struct Listener::Impl : Waitable {
  Impl(Loop& l, int fd) : Waitable(l), descriptor(l.impl().context, fd) {}
  void cancel_waits() override {
    if (!closed) descriptor.cancel();
  }

  Descriptor descriptor;
  bool closed = false;
};

Listener::Listener(std::unique_ptr<Impl> impl, uint16_t port)
    : impl_(std::move(impl)), port_(port) {}
Listener::~Listener() = default;

Result<std::unique_ptr<Listener>> Listener::open(Loop& loop, const model::IpAddress& address,
                                                 uint16_t port) {
  sys::SocketFd socket = PD_TRY(listen_on(socket_address(address, port), address.with_port(port)));
  SocketAddress bound;
  bound.size = sizeof bound.storage;
  if (getsockname(socket.get(), bound.get(), &bound.size) != 0) {
    return Error::from_errno(errno, "reading the port");
  }
  auto impl = std::make_unique<Impl>(loop, socket.get());
  socket.release();
  return std::unique_ptr<Listener>(new Listener(std::move(impl), port_of(bound)));
}

Result<std::unique_ptr<Listener>> Listener::open_unix(Loop& loop, const std::string& path) {
  sys::SocketFd socket = PD_TRY(listen_at(path));
  auto impl = std::make_unique<Impl>(loop, socket.get());
  socket.release();
  return std::unique_ptr<Listener>(new Listener(std::move(impl), 0));
}

Result<std::unique_ptr<SocketStream>> Listener::accept(Task& task) {
  while (true) {
    if (impl_->closed || impl_->loop().is_ending()) {
      return Error(Code::unavailable, "the listener is closed");
    }
    sys::SocketFd peer(::accept4(impl_->descriptor.native_handle(), nullptr, nullptr,
                                 SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (peer.is_open()) return std::make_unique<SocketStream>(impl_->loop(), std::move(peer));
    const int error = errno;
    if (error == EAGAIN) {
      boost::system::error_code ignored;
      impl_->descriptor.async_wait(Descriptor::wait_read, task.impl().yield[ignored]);
    } else if (is_shortage(error)) {
      task.sleep(kShortage);  // the kernel keeps the connection until there is room
    } else if (!is_peers(error)) {
      return Error::from_errno(error, "accepting a connection");
    }
  }
}

void Listener::close() {
  if (std::exchange(impl_->closed, true)) return;
  impl_->descriptor.cancel();
  boost::system::error_code ignored;
  impl_->descriptor.close(ignored);
}

}  // namespace paddock::net
