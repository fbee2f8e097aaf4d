#include "net/socket_stream.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>

#include "net/event.h"
#include "net/socket_address.h"
#include "net/task_impl.h"

namespace paddock::net {
namespace {

using Descriptor = boost::asio::posix::stream_descriptor;

bool must_wait(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

void set_option(int fd, int level, int name, int value) {
  setsockopt(fd, level, name, &value, sizeof value);  // best effort: unix sockets know none of them
}

}  // namespace

struct SocketStream::Impl : Waitable {
  Impl(Loop& l, int fd) : Waitable(l), descriptor(l.impl().context, fd) {}
  void cancel_waits() override { descriptor.cancel(); }

  Descriptor descriptor;
  bool aborted = false;

  Status wait(Task& task, Descriptor::wait_type what) {
    boost::system::error_code error;
    if (!loop().is_ending()) descriptor.async_wait(what, task.impl().yield[error]);
    if (loop().is_ending()) return Error(Code::unavailable, "the gate is ending");
    if (aborted) return Error(Code::unavailable, "the connection was given up");
    if (error) return Error(Code::unavailable, "waiting for the connection: " + error.message());
    return {};
  }
};

SocketStream::SocketStream(Loop& loop, sys::SocketFd socket) : impl_(new Impl(loop, socket.get())) {
  socket.release();
  const int fd = impl_->descriptor.native_handle();
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}
SocketStream::~SocketStream() = default;

int SocketStream::fd() const {
  return impl_->descriptor.native_handle();
}

Result<size_t> SocketStream::read(Task& task, std::span<char> into) {
  while (true) {
    if (impl_->aborted) return Error(Code::unavailable, "the connection was given up");
    const ssize_t count = recv(fd(), into.data(), into.size(), 0);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno == EINTR) continue;
    if (!must_wait(errno)) return Error::from_errno(errno, "reading from the connection");
    PD_TRY(impl_->wait(task, Descriptor::wait_read));
  }
}

Status SocketStream::write(Task& task, std::string_view bytes) {
  while (!bytes.empty()) {
    if (impl_->aborted) return Error(Code::unavailable, "the connection was given up");
    const ssize_t count = send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (must_wait(errno)) {
      PD_TRY(impl_->wait(task, Descriptor::wait_write));
    } else if (errno != EINTR) {
      return Error::from_errno(errno, "writing to the connection");
    }
  }
  return {};
}

Status SocketStream::end_writing(Task&) {
  if (impl_->aborted) return Error(Code::unavailable, "the connection was given up");
  if (shutdown(fd(), SHUT_WR) == 0 || errno == ENOTCONN) return {};
  return Error::from_errno(errno, "ending the connection");
}

void SocketStream::abort() {
  if (impl_->aborted) return;
  impl_->aborted = true;
  // Of TCP this is a reset at once (connect(2): "dissolve the association"); other sockets refuse
  // it.
  const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
  if (connect(fd(), &nobody, sizeof nobody) != 0) shutdown(fd(), SHUT_RDWR);
  impl_->descriptor.cancel();
}

Status SocketStream::wait_readable(Task& task) {
  return impl_->wait(task, Descriptor::wait_read);
}
Status SocketStream::wait_writable(Task& task) {
  return impl_->wait(task, Descriptor::wait_write);
}

void SocketStream::cancel_waits() {
  impl_->descriptor.cancel();
}

Result<First> wait_either(Task& task, SocketStream& a, SocketStream& b) {
  Loop& loop = loop_of(task);
  struct Shared {
    explicit Shared(Loop& l) : done(l) {}
    Event done;  // of the coroutine that watches b
    bool readable = false;
    bool a_waits = true;
  };
  auto shared = std::make_shared<Shared>(loop);
  loop.spawn([shared, &a, &b](Task& watcher) {
    shared->readable = b.wait_readable(watcher).ok();
    shared->done.set();
    if (shared->a_waits) a.cancel_waits();
  });
  const Status readable = a.wait_readable(task);
  shared->a_waits = false;
  if (!shared->done.is_set()) b.cancel_waits();
  shared->done.wait_surely(task);
  if (readable.ok()) return First::a;
  if (shared->readable) return First::b;
  return readable.error();
}

namespace {

Result<sys::SocketFd> begin_connect(const model::IpAddress& address, uint16_t port) {
  const int family = address.is_v4() ? AF_INET : AF_INET6;
  sys::SocketFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return Error::from_errno(errno, "making a socket");
  const SocketAddress to = socket_address(address, port);
  if (connect(socket.get(), to.get(), to.size) != 0 && errno != EINPROGRESS) {
    return Error::from_errno(errno, "connecting to " + address.with_port(port));
  }
  return socket;
}

}  // namespace

Result<std::unique_ptr<SocketStream>> dial(Task& task, const model::IpAddress& address,
                                           uint16_t port, std::chrono::milliseconds patience) {
  sys::SocketFd socket = PD_TRY(begin_connect(address, port));
  const int fd = socket.get();
  auto stream = std::make_unique<SocketStream>(loop_of(task), std::move(socket));
  Deadline deadline(loop_of(task), patience, [raw = stream.get()] { raw->cancel_waits(); });
  const Status writable = stream->wait_writable(task);
  const bool expired = deadline.disarm() == Deadline::State::expired;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (expired) {
    return Error(Code::timed_out, fmt::format("connecting to {}: no answer within {} ms",
                                              address.with_port(port), patience.count()));
  }
  if (error != 0) return Error::from_errno(error, "connecting to " + address.with_port(port));
  PD_TRY(writable);
  return stream;
}

}  // namespace paddock::net
