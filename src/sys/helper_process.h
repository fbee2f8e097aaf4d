// Starts a program of our own that is handed descriptors and nothing else.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sys/child.h"
#include "sys/fd.h"

namespace paddock::sys {

struct HelperProcess {
  std::string program;             // absolute
  std::vector<std::string> words;  // behind its name
  std::vector<Fd> fds;             // become 3, 4 …
};

// Without an environment, /dev/null at 0 to 2, in a process group of its own: a terminal's signals
// are not for it. Call from any thread. not_found: there is no such program.
Result<Process> start_helper(HelperProcess helper);

}  // namespace paddock::sys
