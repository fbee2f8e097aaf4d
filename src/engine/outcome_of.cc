#include "engine/outcome_of.h"

#include <fmt/core.h>
#include <signal.h>
#include <string.h>

#include <algorithm>

#include "base/strings.h"

namespace paddock::engine {
namespace {

using model::Ending;
using model::Outcome;

void set(Outcome& outcome, Ending ending, int code, std::string reason) {
  outcome.ending = ending;
  outcome.code = code;
  outcome.reason = std::move(reason);
}

std::string memory_reason(const model::Limits& limits) {
  return fmt::format("the sandbox may use {} (limits.memory)", format_bytes(limits.memory_bytes));
}

std::string timeout_reason(const model::Limits& limits) {
  return fmt::format("after {} s (limits.timeout)", limits.timeout_seconds);
}

void from_ended(Outcome& outcome, const wire::Ended& ended, const std::string& command, bool oom,
                const model::Limits& limits) {
  outcome.core_dumped = ended.core_dumped();
  switch (ended.how()) {
    case wire::Ended::SIGNALLED:
      // The kernel's out-of-memory killer uses SIGKILL; the cgroup says that it struck here.
      if (oom && ended.code() == SIGKILL) {
        set(outcome, Ending::oom_killed, 0, memory_reason(limits));
      } else {
        const char* name = sigabbrev_np(ended.code());
        set(outcome, Ending::signalled, ended.code(),
            fmt::format("signal {} (SIG{})", ended.code(), name == nullptr ? "?" : name));
      }
      return;
    case wire::Ended::TIMED_OUT:
      set(outcome, Ending::timed_out, 0, timeout_reason(limits));
      return;
    case wire::Ended::OUTPUT_LIMIT:
      set(outcome, Ending::violated, 0,
          fmt::format("wrote more than {} (limits.output)", format_bytes(limits.output_bytes)));
      return;
    case wire::Ended::NOT_FOUND:
      set(outcome, Ending::exited, 127, printable(command) + ": command not found");
      return;
    case wire::Ended::NOT_EXECUTABLE:
      set(outcome, Ending::exited, 126,
          fmt::format("{}: cannot execute: {}", printable(command), strerrordesc_np(ended.code())));
      return;
    default:
      set(outcome, Ending::exited, ended.code() & 0xff, "");
      // A shell that lost a child to the killer exits by itself; say what happened all the same.
      if (oom) outcome.reason = "a process ran out of memory: " + memory_reason(limits);
      return;
  }
}

}  // namespace

Outcome outcome_of(const RelayResult& result, isolation::Sandbox& sandbox,
                   const model::Limits& limits, uint64_t wall_us) {
  Outcome outcome;
  bool oom = sandbox.oom_killed();
  if (result.ended) {
    from_ended(outcome, *result.ended, result.command, oom, limits);
  } else if (result.timed_out) {
    set(outcome, Ending::timed_out, 0, timeout_reason(limits));
  } else if (!result.killed_because.empty()) {
    bool limit = result.killed_because.find("limits.") != std::string::npos;
    set(outcome, limit ? Ending::violated : Ending::killed, result.killed_by_signal,
        result.killed_because);
  } else if (oom) {
    set(outcome, Ending::oom_killed, 0, memory_reason(limits));
  } else {
    set(outcome, Ending::killed, 0, "the sandbox ended before its command did");
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
