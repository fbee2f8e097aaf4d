// Runs a helper program of the host (git, newuidmap …) and collects what it says. For trusted
// programs only: nothing of a sandbox runs this way. What they read may be a sandbox's: then they
// get limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace paddock::sys {

// Of the program and each of its children. They hold before it is given a byte of `input`.
struct CommandLimits {
  uint64_t cpu_seconds = 0;
  uint64_t memory_bytes = 0;  // of address space
  uint64_t file_bytes = 0;    // of each file that it writes
  int64_t wall_ms = 0;
};

struct Command {
  std::vector<std::string> argv;         // argv[0] is looked up in PATH
  std::vector<std::string> environment;  // "K=V", the whole environment; nothing is inherited
  std::string directory;                 // working directory, empty: the caller's
  std::string input;                     // written to standard input, then closed
  size_t output_limit = 256u << 20;      // of each stream; more is resource_exhausted
  std::string input_file;                // read as standard input instead of `input`
  // With them the program has a process group of its own, which ends with it.
  std::optional<CommandLimits> limits{};
};

struct CommandResult {
  int exit_code = 0;  // 128 + n when signal n ended it
  std::string out;
  std::string err;
};

// Waits for the program to end. timed_out: it was ended. An Error means that it could not be
// started or talked to (not_found: no such program); a non-zero exit is a value. May be called from
// any thread.
Result<CommandResult> run_command(const Command& command);

}  // namespace paddock::sys
