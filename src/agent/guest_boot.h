// What an init does in a guest with a kernel of its own, before it is the agent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::agent {

// Mounts /proc, /sys, /dev and what programs expect below it, loads the modules that
// /etc/paddock/modules names, and opens the virtio-serial port paddock.agent when the host is
// there. Takes as long as that takes to appear, 20 s at most.
Result<sys::Fd> boot_guest();

struct ModuleLine {
  std::string path;
  std::string parameters;
};
// One module file per line, in the order to load them, with parameters behind it; empty lines and
// those that begin with # say nothing. Pure.
std::vector<ModuleLine> parse_module_list(std::string_view text);

}  // namespace paddock::agent
