#include "sys/netlink.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace paddock::sys {

void NetlinkBatch::put(const void* bytes, size_t count) {
  bytes_.append(static_cast<const char*>(bytes), count);
}

void NetlinkBatch::pad() {
  bytes_.append((4 - bytes_.size() % 4) % 4, '\0');
}

void NetlinkBatch::begin_message(uint16_t type, uint16_t flags, std::string_view header) {
  message_ = bytes_.size();
  nlmsghdr head{};
  head.nlmsg_type = type;
  head.nlmsg_flags = static_cast<uint16_t>(flags | NLM_F_REQUEST);
  head.nlmsg_seq = ++sequence_;
  if ((flags & NLM_F_ACK) != 0) ++acknowledged_;
  put(&head, sizeof head);
  bytes_.append(header);
  pad();
}

void NetlinkBatch::end() {
  const auto length = static_cast<uint32_t>(bytes_.size() - message_);
  std::memcpy(bytes_.data() + message_ + offsetof(nlmsghdr, nlmsg_len), &length, sizeof length);
}

void NetlinkBatch::attribute(uint16_t type, std::string_view bytes) {
  const nlattr head{.nla_len = static_cast<uint16_t>(sizeof head + bytes.size()), .nla_type = type};
  put(&head, sizeof head);
  bytes_.append(bytes);
  pad();
}

void NetlinkBatch::attribute_u32(uint16_t type, uint32_t value) {
  // SAFETY: the number's bytes.
  attribute(type, {reinterpret_cast<const char*>(&value), sizeof value});
}

void NetlinkBatch::attribute_be16(uint16_t type, uint16_t value) {
  value = htons(value);
  // SAFETY: the number's bytes.
  attribute(type, {reinterpret_cast<const char*>(&value), sizeof value});
}

void NetlinkBatch::attribute_be32(uint16_t type, uint32_t value) {
  attribute_u32(type, htonl(value));
}

void NetlinkBatch::attribute_u8(uint16_t type, uint8_t value) {
  const char byte = static_cast<char>(value);
  attribute(type, {&byte, 1});
}

void NetlinkBatch::attribute_text(uint16_t type, std::string_view text) {
  attribute(type, std::string(text) + '\0');
}

size_t NetlinkBatch::nest(uint16_t type) {
  const size_t at = bytes_.size();
  const nlattr head{.nla_len = 0, .nla_type = static_cast<uint16_t>(type | NLA_F_NESTED)};
  put(&head, sizeof head);
  return at;
}

void NetlinkBatch::end_nest(size_t nested) {
  const auto length = static_cast<uint16_t>(bytes_.size() - nested);
  std::memcpy(bytes_.data() + nested + offsetof(nlattr, nla_len), &length, sizeof length);
}

Result<SocketFd> open_netlink(int protocol) {
  int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
  if (fd < 0) return Error::from_errno(errno, "opening a netlink socket");
  return SocketFd(fd);
}

namespace {

// Counts acknowledgements in one datagram from the kernel; its first error otherwise.
Result<size_t> read_answers(const char* bytes, size_t size) {
  size_t acknowledgements = 0;
  while (size >= sizeof(nlmsghdr)) {
    nlmsghdr head{};
    std::memcpy(&head, bytes, sizeof head);
    if (head.nlmsg_len < sizeof head || head.nlmsg_len > size) break;
    if (head.nlmsg_type == NLMSG_ERROR && head.nlmsg_len >= sizeof head + sizeof(int)) {
      int error = 0;
      std::memcpy(&error, bytes + sizeof head, sizeof error);
      if (error != 0) {
        return Error::from_errno(-error, "message " + std::to_string(head.nlmsg_seq));
      }
      ++acknowledgements;
    }
    const size_t step = std::min<size_t>(size, NLMSG_ALIGN(head.nlmsg_len));
    bytes += step;
    size -= step;
  }
  return acknowledgements;
}

}  // namespace

Status transact(const SocketFd& socket, const NetlinkBatch& batch) {
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  // SAFETY: every socket address is passed as a sockaddr.
  const auto* address = reinterpret_cast<const sockaddr*>(&kernel);
  const std::string& bytes = batch.bytes();
  if (::sendto(socket.get(), bytes.data(), bytes.size(), 0, address, sizeof kernel) < 0) {
    return Error::from_errno(errno, "sending to the kernel");
  }
  size_t acknowledgements = 0;
  while (acknowledgements < batch.acknowledged()) {
    std::array<char, 8192> buffer;
    ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (n < 0) return Error::from_errno(errno, "reading the kernel's answer");
    acknowledgements += PD_TRY(read_answers(buffer.data(), static_cast<size_t>(n)));
  }
  return {};
}

}  // namespace paddock::sys
