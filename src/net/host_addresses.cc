#include "net/host_addresses.h"

#include <ifaddrs.h>
#include <netinet/in.h>

namespace paddock::net {
namespace {

constexpr std::chrono::seconds kFresh{2};

// Empty only when the kernel does not tell: every host has a loopback address.
std::set<model::IpAddress> read_interfaces() {
  std::set<model::IpAddress> out;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return out;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    std::string raw;
    // SAFETY: the family says which structure it is; its bytes are copied out.
    if (entry->ifa_addr->sa_family == AF_INET) {
      const auto& v4 = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr;
      raw.assign(reinterpret_cast<const char*>(&v4), sizeof v4);
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      const auto& v6 = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
      raw.assign(reinterpret_cast<const char*>(&v6), sizeof v6);
    }
    if (auto address = model::IpAddress::from_bytes(raw); address.ok()) out.insert(*address);
  }
  freeifaddrs(list);
  return out;
}

}  // namespace

std::set<model::IpAddress> HostAddresses::list() {
  std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (known_.empty() || now - read_at_ > kFresh) {
    known_ = read_interfaces();
    read_at_ = now;
  }
  return known_;
}

bool HostAddresses::contains(const model::IpAddress& address) {
  const std::set<model::IpAddress> known = list();
  return known.empty() || known.contains(address);
}

}  // namespace paddock::net
