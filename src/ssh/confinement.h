// What this process gives up before it reads a byte of the other side.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace paddock::ssh {

// No core dumps, no tracing, few descriptors, no new privileges. Before it is given a key.
void hide();
// Where the kernel has Landlock, of all files only `readable` and what libraries of the system
// need; and no system call but those of confinement.cc: nothing is started, connected to or written
// to but what is open. After hide().
Status confine(const std::vector<std::string>& readable);

}  // namespace paddock::ssh
