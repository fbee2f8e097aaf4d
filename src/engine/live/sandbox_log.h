// What happened in a sandbox, in lines for people. Bounded; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "wire/agent.pb.h"

namespace paddock::engine {

struct LogEntry {
  enum class Level { info, warn, error } level = Level::info;
  int64_t wall_ms = 0;
  uint64_t number = 0;  // of this entry, from 1 on; never used twice
  std::string message;  // no control characters
  std::map<std::string, std::string> fields;
};

class SandboxLog {
 public:
  // The oldest goes when there are more.
  static constexpr size_t kMaxEntries = 2000;

  // Number and time are given here.
  void add(LogEntry entry);
  const std::deque<LogEntry>& entries() const { return entries_; }

 private:
  std::deque<LogEntry> entries_;
  uint64_t last_ = 0;
};

class Process;
// What is logged of commands and of what was refused; words of the sandbox are bounded and
// printable.
LogEntry start_entry(const Process& process);
LogEntry end_entry(const Process& process, const wire::Ended& ended);
LogEntry refusal_entry(const wire::Denied& denied);

}  // namespace paddock::engine
