// Ports that a rule speaks of, as ranges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace paddock::egress {

struct PortRange {
  uint16_t first = 0;
  uint16_t last = 0;
};

class PortSet {
 public:
  // "443", "8000-8010", "*". An empty list is no port at all.
  static Result<PortSet> parse(const std::vector<std::string>& texts);
  static PortSet all() { return PortSet({{1, 65535}}); }
  static PortSet of(std::vector<PortRange> ranges) { return PortSet(std::move(ranges)); }

  bool contains(uint16_t port) const;
  // Whether some port is in here and in none of `others`.
  bool reaches_beyond(const std::vector<const PortSet*>& others) const;

  PortSet() = default;

 private:
  explicit PortSet(std::vector<PortRange> ranges) : ranges_(std::move(ranges)) {}

  std::vector<PortRange> ranges_;
};

}  // namespace paddock::egress
