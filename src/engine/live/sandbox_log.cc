#include "engine/live/sandbox_log.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "engine/live/process.h"
#include "sys/clock.h"

namespace paddock::engine {

namespace {

constexpr size_t kMaxLogText = 1000;

std::string shown(const std::string& text) {
  return printable(text.substr(0, kMaxLogText));
}

// Of one that ended at once the pid may not be known yet.
std::map<std::string, std::string> fields_of(const Process& process) {
  if (process.pid() == 0) return {};
  return {{"pid", std::to_string(process.pid())}};
}

}  // namespace

LogEntry start_entry(const Process& process) {
  std::string words;
  for (const std::string& word : process.request().argv) {
    if (!words.empty()) words += ' ';
    words += word;
    if (words.size() > kMaxLogText) break;
  }
  LogEntry entry{.message = "a command has started", .fields = fields_of(process)};
  entry.fields["command"] = shown(words);
  return entry;
}

LogEntry end_entry(const Process& process, const wire::Ended& ended) {
  LogEntry entry{.fields = fields_of(process)};
  const std::string code = std::to_string(ended.code());
  switch (ended.how()) {
    case wire::Ended::EXITED:
      entry.message = "a command has ended";
      entry.fields["exitCode"] = code;
      break;
    case wire::Ended::SIGNALLED:
      entry.message = "a command was ended by a signal";
      entry.fields["signal"] = code;
      break;
    case wire::Ended::TIMED_OUT:
      entry.message = "a command's time was up";
      break;
    default:
      entry.message = "a command could not go on";
      entry.fields["error"] = code;
      break;
  }
  const bool is_well = ended.how() == wire::Ended::EXITED && ended.code() == 0;
  if (!is_well) entry.level = LogEntry::Level::warn;
  return entry;
}

LogEntry refusal_entry(const wire::Denied& denied) {
  return {.level = LogEntry::Level::warn,
          .message = "refused: " + shown(denied.what()),
          .fields = {{"process", shown(denied.process())},
                     {"pid", std::to_string(denied.pid())},
                     {"count", std::to_string(std::max<uint64_t>(denied.count(), 1))}}};
}

void SandboxLog::add(LogEntry entry) {
  entry.number = ++last_;
  entry.wall_ms = sys::wall_clock_ms();
  entries_.push_back(std::move(entry));
  if (entries_.size() > kMaxEntries) entries_.pop_front();
}

}  // namespace paddock::engine
