// What a command that sudo(8) runs is told: environment, arguments, by the rules of sudoers(5) as
// Debian ships it (env_reset, secure_path). Pure.
#pragma once

#include <string>
#include <vector>

#include "agent/sudo/options.h"
#include "agent/users.h"

namespace paddock::agent::sudo {

struct Caller {
  User user;
  std::vector<std::string> environment;  // "K=V"
};

// The words to execute: the command, or the target's shell (which gets the command as one word,
// each of its characters that a shell would read escaped).
std::vector<std::string> words_of(const Options& options, const Caller& caller, const User& target);

// Kept of the caller's: what terminals and languages need, and how the sandbox's own way out is
// found (proxies, certificates).
std::vector<std::string> environment_of(const Options& options, const Caller& caller,
                                        const User& target);

}  // namespace paddock::agent::sudo
