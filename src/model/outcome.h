// What happened to a command. A value, not an error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "model/denial.h"

namespace paddock::model {

enum class Ending { exited, signalled, timed_out, oom_killed, killed, violated, setup_failed };
inline constexpr EnumNames<Ending, 7> kEndingNames{{{Ending::exited, "exited"},
                                                    {Ending::signalled, "signalled"},
                                                    {Ending::timed_out, "timed_out"},
                                                    {Ending::oom_killed, "oom_killed"},
                                                    {Ending::killed, "killed"},
                                                    {Ending::violated, "violated"},
                                                    {Ending::setup_failed, "setup_failed"}}};

struct Usage {
  uint64_t wall_us = 0;
  uint64_t user_us = 0;
  uint64_t system_us = 0;
  uint64_t peak_memory_bytes = 0;  // of the whole sandbox where a cgroup says, else largest process
  uint64_t stdout_bytes = 0;
  uint64_t stderr_bytes = 0;
};

// The first writer of `ending` wins; the rest is filled as it becomes known.
struct Outcome {
  Ending ending = Ending::setup_failed;
  int code = 0;        // exit status; signal number when signalled, or when killed by one of ours
  std::string reason;  // why, for every ending but a plain exit
  bool core_dumped = false;
  Usage usage;
  std::vector<Denial> denials;
  uint64_t denials_dropped = 0;  // beyond the bound on records
};

// Shell convention: exit status; 128 + signal; 124 timed out; 125 set-up failed; 137 out of memory,
// killed or violated.
int exit_status(const Outcome& outcome);

}  // namespace paddock::model
