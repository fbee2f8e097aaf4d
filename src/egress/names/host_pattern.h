// Which names a rule speaks of: one name, or everything below one name.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "egress/names/host_name.h"

namespace paddock::egress {

// What a wildcard may stand above: names of one owner; also names that strangers register below a
// service's ("*.github.io"); or anything, a registry's own suffix included ("*.com", "*.co.uk"),
// which only a rule that refuses may say.
enum class SharedSuffix { refused, accepted, anything };

class HostPattern {
 public:
  // "a.example": that name. "*.a.example": every name below it, itself not. Nothing else: "*",
  // "**", "a.*", "*a.example", "*.com", addresses and ports are refused with the reason.
  static Result<HostPattern> parse(std::string_view text, SharedSuffix shared);

  bool matches(const HostName& name) const;
  bool is_wildcard() const { return wildcard_; }
  const HostName& base() const { return base_; }
  std::string str() const { return (wildcard_ ? "*." : "") + base_.str(); }
  auto operator<=>(const HostPattern&) const = default;

 private:
  HostPattern(HostName base, bool wildcard) : base_(std::move(base)), wildcard_(wildcard) {}

  HostName base_;
  bool wildcard_ = false;
};

}  // namespace paddock::egress
