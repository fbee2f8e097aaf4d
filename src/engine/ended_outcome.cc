#include "engine/ended_outcome.h"

#include <fmt/core.h>
#include <signal.h>
#include <string.h>

#include <utility>

#include "base/strings.h"

namespace paddock::engine {

using model::Ending;
using model::Outcome;

void set_ending(Outcome& outcome, Ending ending, int code, std::string reason) {
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

void put_ending(Outcome& outcome, const wire::Ended& ended, const std::string& command,
                OutOfMemory memory, const model::Limits& limits) {
  const bool oom = memory == OutOfMemory::yes;
  outcome.core_dumped = ended.core_dumped();
  switch (ended.how()) {
    case wire::Ended::SIGNALLED:
      // The kernel's out-of-memory killer uses SIGKILL; the cgroup says that it struck here.
      if (oom && ended.code() == SIGKILL) {
        set_ending(outcome, Ending::oom_killed, 0, memory_reason(limits));
      } else {
        const char* name = sigabbrev_np(ended.code());
        set_ending(outcome, Ending::signalled, ended.code(),
                   fmt::format("signal {} (SIG{})", ended.code(), name == nullptr ? "?" : name));
      }
      return;
    case wire::Ended::TIMED_OUT:
      set_ending(outcome, Ending::timed_out, 0, timeout_reason(limits));
      return;
    case wire::Ended::OUTPUT_LIMIT:
      set_ending(
          outcome, Ending::violated, 0,
          fmt::format("wrote more than {} (limits.output)", format_bytes(limits.output_bytes)));
      return;
    case wire::Ended::NOT_FOUND:
      set_ending(outcome, Ending::exited, 127, printable(command) + ": command not found");
      return;
    case wire::Ended::NOT_EXECUTABLE:
      set_ending(
          outcome, Ending::exited, 126,
          fmt::format("{}: cannot execute: {}", printable(command), strerrordesc_np(ended.code())));
      return;
    default:
      set_ending(outcome, Ending::exited, ended.code() & 0xff, "");
      // A shell that lost a child to the killer exits by itself; say what happened all the same.
      if (oom) outcome.reason = "a process ran out of memory: " + memory_reason(limits);
      return;
  }
}

model::Outcome outcome_of(const wire::Ended& ended, const std::string& command,
                          const model::Limits& limits, uint64_t timeout_ms) {
  Outcome outcome;
  put_ending(outcome, ended, command, OutOfMemory::no, limits);
  if (ended.how() == wire::Ended::TIMED_OUT) {
    outcome.reason = fmt::format("after {} ms, the time that was given for it", timeout_ms);
  }
  outcome.usage.wall_us = ended.wall_us();
  outcome.usage.user_us = ended.user_us();
  outcome.usage.system_us = ended.system_us();
  outcome.usage.peak_memory_bytes = ended.max_rss_bytes();
  return outcome;
}

}  // namespace paddock::engine
