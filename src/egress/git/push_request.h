// What a push says before its pack: which refs it changes, and how it wants to be answered.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddock::egress::git {

struct RefChange {
  std::string old_id;  // hex; all zeros: the ref is made
  std::string new_id;  // all zeros: the ref is removed
  std::string ref;

  bool operator==(const RefChange&) const = default;
};

bool is_null_id(std::string_view id);

struct PushRequest {
  std::vector<RefChange> changes;  // none: a probe, which changes nothing
  std::vector<std::string> capabilities;
  size_t size = 0;  // bytes up to the pack

  bool has(std::string_view capability) const;
  std::vector<std::string> refs() const;
  // Whether a pack follows: not when refs are only removed.
  bool brings_pack() const;
};

// At the start of what git-receive-pack is sent. nullopt: it goes on, read more. data_corrupt: not
// what git-receive-pack takes, too much of it, or a signed push, which hides its commands.
Result<std::optional<PushRequest>> parse_push_request(std::string_view bytes);

}  // namespace paddock::egress::git
