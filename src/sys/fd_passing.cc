#include "sys/fd_passing.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace paddock::sys {
namespace {

// Room for one descriptor, aligned as the kernel writes it.
union OneDescriptor {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

int raw_send_fd(int socket, int fd) {
  char byte = 0;
  iovec data{&byte, 1};
  OneDescriptor control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof control.bytes;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

Result<Record> receive_record(const Fd& socket, void* buffer, size_t capacity) {
  iovec data{buffer, capacity};
  OneDescriptor control{};
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
  Record record{static_cast<size_t>(size), Fd()};
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    record.fd = Fd(fd);
  }
  return record;
}

}  // namespace paddock::sys
