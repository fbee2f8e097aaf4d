// A user of a sandbox, as its own /etc/passwd has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace paddock::net {
class Task;
}

namespace paddock::engine {

class LiveSandbox;

struct GuestUser {
  std::string name;
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::vector<uint32_t> groups;  // supplementary
  std::string home;              // absolute
  std::string shell;
};

// Where something is to be done, and as whom; nullopt: the sandbox's own user.
struct Inside {
  LiveSandbox& sandbox;
  const std::optional<GuestUser>& user;

  const std::string& home() const;
};

// By name; empty is the sandbox's own. not_found: no such user. unsupported: the sandbox has one
// user.
Result<std::optional<GuestUser>> find_guest_user(net::Task& task, LiveSandbox& sandbox,
                                                 const std::string& name);

}  // namespace paddock::engine
