// The addresses of this host's own interfaces.
#pragma once

#include <chrono>
#include <mutex>
#include <set>

#include "model/ip_address.h"

namespace paddock::net {

// Read anew when older than a few seconds. Thread-safe.
class HostAddresses {
 public:
  // Empty while the kernel does not tell.
  std::set<model::IpAddress> list();
  // True of every address while the kernel does not tell.
  bool contains(const model::IpAddress& address);

 private:
  std::mutex mutex_;
  std::set<model::IpAddress> known_;
  std::chrono::steady_clock::time_point read_at_{};
};

}  // namespace paddock::net
