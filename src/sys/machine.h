// The machine as a whole, for the first process of a guest with a kernel of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::sys {

// Mixes `bytes` into the kernel's pool, counts them as entropy and reseeds (random(4)).
Status add_entropy(std::string_view bytes);
Status set_wall_clock(int64_t since_epoch_ns);
// A module file, with parameters as insmod(8) takes them. One that is loaded already is success.
Status load_module(const std::string& path, const std::string& parameters);

struct PseudoMount {
  const char* type;  // "proc", "tmpfs" …
  const char* target;
  const char* options;
  unsigned long flags;  // MS_*
};
// mount(2) of a file system without a device. One that is mounted there already is success.
Status mount_pseudo(const PseudoMount& mount);

}  // namespace paddock::sys
