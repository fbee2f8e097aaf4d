// Synthetic addresses: what a name resolves to inside a sandbox, so that a connection to the
// address tells which name was meant.
//
// v4 ones lie in 198.18.0.0/15, v6 ones in 2001:2::/96 with the v4 one in the last four bytes: one
// number stands for both. Both blocks are reserved for benchmarking (RFC 2544, RFC 5180), are
// routed nowhere, collide with no site's own addresses (as a private block would), and count as
// ordinary addresses in resolvers (RFC 6724 ranks unique-local ones last) and in programs that
// refuse private ones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "egress/names/host_name.h"

namespace paddock::egress {

struct SyntheticPair {
  model::IpAddress v4;
  model::IpAddress v6;
};

// Names of one sandbox and their addresses. A name keeps its address for the sandbox's life, in the
// order of first use: programs cache them. Owned by one thread.
class SyntheticAddresses {
 public:
  // Names that one sandbox may ever resolve. What a rule allows bounds it anyway, except below a
  // wildcard, where a program could ask for names without end.
  static constexpr uint32_t kMaxNames = 16384;

  // resource_exhausted beyond kMaxNames.
  Result<SyntheticPair> address_of(const HostName& name);
  std::optional<HostName> name_of(const model::IpAddress& address) const;
  size_t size() const { return names_.size(); }

  // In either block, given out or not.
  static bool is_synthetic(const model::IpAddress& address);

 private:
  std::map<HostName, uint32_t> index_;
  std::vector<HostName> names_;
};

}  // namespace paddock::egress
