#include "sys/descriptor_messages.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace paddock::sys {
namespace {

constexpr int kBacklog = 64;

// Room for the descriptors, aligned as the kernel writes it.
union ManyDescriptors {
  cmsghdr header;
  char bytes[CMSG_SPACE(kMaxDescriptors * sizeof(int))];
};

std::vector<Fd> take_descriptors(msghdr& message) {
  std::vector<Fd> fds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Error(Code::invalid_argument, "too long for a socket's path: " + path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<SocketFd> open_socket(int flags) {
  SocketFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!socket.is_open()) return Error::from_errno(errno, "opening a socket");
  return socket;
}

}  // namespace

Status send_with_descriptors(const Fd& socket, std::string_view bytes, std::span<const int> fds) {
  if (fds.size() > kMaxDescriptors || bytes.empty()) {
    return Error(Code::internal, "no record that can be sent");
  }
  iovec data{const_cast<char*>(bytes.data()), bytes.size()};
  ManyDescriptors control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket.get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return Error::from_errno(errno, "sending a record");
  return {};
}

Result<DescriptorRecord> receive_with_descriptors(const Fd& socket, size_t capacity) {
  DescriptorRecord record;
  record.bytes.resize(capacity);
  iovec data{record.bytes.data(), capacity};
  ManyDescriptors control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof control.bytes;
  ssize_t size = -1;
  do {
    size = ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return Error::from_errno(errno, "receiving a record");
  record.bytes.resize(static_cast<size_t>(size));
  record.fds = take_descriptors(message);
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return Error(Code::data_corrupt, "a record that is too long");
  }
  return record;
}

Result<SocketFd> listen_for_records(const std::string& path, mode_t mode) {
  const sockaddr_un address = PD_TRY(address_of(path));
  SocketFd socket = PD_TRY(open_socket(SOCK_NONBLOCK));
  // SAFETY: the sockets API takes every kind of address by this type.
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(socket.get(), any, sizeof address) != 0) {
    return Error::from_errno(errno, "binding " + path);
  }
  if (::chmod(path.c_str(), mode) != 0) return Error::from_errno(errno, "opening " + path);
  if (::listen(socket.get(), kBacklog) != 0) {
    return Error::from_errno(errno, "listening at " + path);
  }
  return socket;
}

Result<SocketFd> connect_for_records(const std::string& path) {
  const sockaddr_un address = PD_TRY(address_of(path));
  SocketFd socket = PD_TRY(open_socket(0));
  // SAFETY: as above.
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.get(), any, sizeof address) != 0) {
    return Error::from_errno(errno, "connecting to " + path);
  }
  return socket;
}

Result<uid_t> peer_user(const Fd& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return Error::from_errno(errno, "asking who is connected");
  }
  return peer.uid;
}

}  // namespace paddock::sys
