// Netlink: messages to the kernel's network configuration and to nftables.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

// Builds messages that go to the kernel in one send. Numbers in host order unless the name says be.
class NetlinkBatch {
 public:
  // Begins a message of `type` with the header of its family. NLM_F_REQUEST is added to `flags`.
  template <typename Header>
  void begin(uint16_t type, uint16_t flags, const Header& header) {
    static_assert(std::is_trivially_copyable_v<Header>);
    // SAFETY: the header's bytes, as the kernel reads them.
    begin_message(type, flags, {reinterpret_cast<const char*>(&header), sizeof header});
  }
  void end();

  void attribute(uint16_t type, std::string_view bytes);
  void attribute_u32(uint16_t type, uint32_t value);
  void attribute_be16(uint16_t type, uint16_t value);
  void attribute_be32(uint16_t type, uint32_t value);
  void attribute_u8(uint16_t type, uint8_t value);
  void attribute_text(uint16_t type, std::string_view text);  // with the terminating zero

  // Attributes between nest() and end_nest(its result) are inside of one of `type`.
  size_t nest(uint16_t type);
  void end_nest(size_t nested);

  const std::string& bytes() const { return bytes_; }
  // How many messages ask for an answer (NLM_F_ACK).
  size_t acknowledged() const { return acknowledged_; }

 private:
  void begin_message(uint16_t type, uint16_t flags, std::string_view header);
  void put(const void* bytes, size_t count);
  void pad();

  std::string bytes_;
  size_t message_ = 0;  // where the current one begins
  size_t acknowledged_ = 0;
  uint32_t sequence_ = 0;
};

// A non-blocking socket of NETLINK_ROUTE or NETLINK_NETFILTER, in the caller's network namespace.
Result<SocketFd> open_netlink(int protocol);

// Sends the batch and reads the kernel's answers, which are there when the send returns. The error
// of the first message that was refused; what happened to the others is the family's affair
// (nftables: all or nothing).
Status transact(const SocketFd& socket, const NetlinkBatch& batch);

}  // namespace paddock::sys
