#include "egress/rules/port_set.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"

namespace paddock::egress {
namespace {

Result<PortRange> parse_range(std::string_view text) {
  if (text == "*") return PortRange{1, 65535};
  const size_t dash = text.find('-');
  const auto first = parse_u64(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_u64(text.substr(dash + 1));
  if (!first || !last || *first == 0 || *last > 65535 || *first > *last) {
    return Error(
        Code::invalid_argument,
        fmt::format("port '{}' is not a number, a range \"8000-8010\" or \"*\"", printable(text)));
  }
  return PortRange{static_cast<uint16_t>(*first), static_cast<uint16_t>(*last)};
}

}  // namespace

Result<PortSet> PortSet::parse(const std::vector<std::string>& texts) {
  PortSet set;
  for (const std::string& text : texts) set.ranges_.push_back(PD_TRY(parse_range(text)));
  return set;
}

bool PortSet::contains(uint16_t port) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const PortRange& range) {
    return range.first <= port && port <= range.last;
  });
}

bool PortSet::reaches_beyond(const std::vector<const PortSet*>& others) const {
  // A port outside of `others` exists only if one does at the begin of a range of ours or right
  // behind the end of one of theirs.
  auto free = [&](uint32_t port) {
    return port <= 65535 && contains(static_cast<uint16_t>(port)) &&
           std::none_of(others.begin(), others.end(), [&](const PortSet* other) {
             return other->contains(static_cast<uint16_t>(port));
           });
  };
  for (const PortRange& range : ranges_) {
    if (free(range.first)) return true;
  }
  for (const PortSet* other : others) {
    for (const PortRange& range : other->ranges_) {
      if (free(uint32_t{range.last} + 1)) return true;
    }
  }
  return false;
}

}  // namespace paddock::egress
