#include "net/listener.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <utility>

#include "net/socket_address.h"
#include "net/task_impl.h"

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
