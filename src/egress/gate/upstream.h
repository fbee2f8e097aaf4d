// Dialling what a target is, after looking at every address that it resolves to. The address that
// was looked at is the one that is dialled.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "egress/rules/policy.h"
#include "net/host_addresses.h"
#include "net/resolver.h"
#include "net/socket_stream.h"

namespace paddock::egress {

struct Upstream {
  std::unique_ptr<net::SocketStream> stream;
  model::IpAddress address;
};

// Owned by the gate; thread-safe.
class Dialler {
 public:
  explicit Dialler(std::unique_ptr<net::Resolver> resolver) : resolver_(std::move(resolver)) {}

  // permission_denied: every address is one that no sandbox may reach, and no rule names it.
  // not_found, unavailable, timed_out: there is no such name, or nobody answers.
  Result<Upstream> dial(net::Task& task, const Target& target, const Policy& policy);

  // Whether this target may be dialled at this address; the reason if not.
  Status check(const Target& target, const model::IpAddress& address, const Policy& policy);

 private:
  Result<std::vector<model::IpAddress>> addresses_of(net::Task& task, const Target& target,
                                                     const Policy& policy);

  std::unique_ptr<net::Resolver> resolver_;
  net::HostAddresses own_;
};

}  // namespace paddock::egress
