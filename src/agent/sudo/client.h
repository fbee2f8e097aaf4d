// `sudo` inside: asks the agent to run a command as somebody else, since under no_new_privs no
// program can raise itself.
#pragma once

#include <string>
#include <vector>

namespace paddock::agent::sudo {

// Returns the exit status; a command that was ended by a signal ends the caller by the same one.
int run_client(const std::vector<std::string>& words);

}  // namespace paddock::agent::sudo
