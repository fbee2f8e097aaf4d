// Records with several descriptors, over unix sockets of type SOCK_SEQPACKET.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

inline constexpr size_t kMaxDescriptors = 8;

// At least one byte goes with at most kMaxDescriptors.
Status send_with_descriptors(const Fd& socket, std::string_view bytes, std::span<const int> fds);

struct DescriptorRecord {
  std::string bytes;  // empty: the other side is gone
  std::vector<Fd> fds;
};
// Waits for a record. data_corrupt: longer than `capacity`, or with more descriptors than fit.
Result<DescriptorRecord> receive_with_descriptors(const Fd& socket, size_t capacity);

// Listens at `path`, which must not exist, for whoever may write to the socket's file.
Result<SocketFd> listen_for_records(const std::string& path, mode_t mode);
Result<SocketFd> connect_for_records(const std::string& path);

// The other side's user when it connected, as seen from the caller's user namespace.
Result<uid_t> peer_user(const Fd& socket);

}  // namespace paddock::sys
