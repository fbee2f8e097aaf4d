// Runs a helper program of the host (git, newuidmap …) and collects what it says. For trusted
// programs only: nothing of a sandbox runs this way.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace paddock::sys {

struct Command {
  std::vector<std::string> argv;         // argv[0] is looked up in PATH
  std::vector<std::string> environment;  // "K=V", the whole environment; nothing is inherited
  std::string directory;                 // working directory, empty: the caller's
  std::string input;                     // written to standard input, then closed
  size_t output_limit = 256u << 20;      // of each stream; more is resource_exhausted
  std::string input_file;                // read as standard input instead of `input`
};

struct CommandResult {
  int exit_code = 0;  // 128 + n when signal n ended it
  std::string out;
  std::string err;
};

// Waits for the program to end. An Error means that it could not be started or talked to
// (not_found: no such program); a non-zero exit is a value. May be called from any thread.
Result<CommandResult> run_command(const Command& command);

}  // namespace paddock::sys
