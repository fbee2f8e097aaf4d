#include "engine/outcome_of.h"

#include "engine/ended_outcome.h"

namespace paddock::engine {

using model::Ending;
using model::Outcome;

Outcome outcome_of(const RelayResult& result, isolation::Sandbox& sandbox,
                   const model::Limits& limits, uint64_t wall_us) {
  Outcome outcome;
  bool oom = sandbox.oom_killed();
  if (result.ended) {
    put_ending(outcome, *result.ended, result.command, oom ? OutOfMemory::yes : OutOfMemory::no,
               limits);
  } else if (result.timed_out) {
    set_ending(outcome, Ending::timed_out, 0, timeout_reason(limits));
  } else if (!result.killed_because.empty()) {
    bool limit = result.killed_because.find("limits.") != std::string::npos;
    set_ending(outcome, limit ? Ending::violated : Ending::killed, result.killed_by_signal,
               result.killed_because);
  } else if (oom) {
    set_ending(outcome, Ending::oom_killed, 0, memory_reason(limits));
  } else {
    set_ending(outcome, Ending::killed, 0, "the sandbox ended before its command did");
  }
  model::Usage whole = sandbox.usage();
  outcome.usage.wall_us = wall_us;
  outcome.usage.stdout_bytes = result.stdout_bytes;
  outcome.usage.stderr_bytes = result.stderr_bytes;
  outcome.usage.peak_memory_bytes = whole.peak_memory_bytes;
  if (result.ended) {
    outcome.usage.user_us = result.ended->user_us();
    outcome.usage.system_us = result.ended->system_us();
    if (whole.peak_memory_bytes == 0)
      outcome.usage.peak_memory_bytes = result.ended->max_rss_bytes();
  } else {
    outcome.usage.user_us = whole.user_us;
    outcome.usage.system_us = whole.system_us;
  }
  return outcome;
}

}  // namespace paddock::engine
