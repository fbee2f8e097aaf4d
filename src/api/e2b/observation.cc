#include "api/e2b/observation.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "api/e2b/json.h"
#include "base/strings.h"
#include "sys/clock.h"

namespace paddock::api::e2b {
namespace {

using boost::json::object;
using engine::LogEntry;
using Order = LogQuery::Order;

constexpr size_t kMaxLogs = 1000;
constexpr std::chrono::milliseconds kMeasured{50};
constexpr EnumNames<LogEntry::Level, 3> kLevelNames{{{LogEntry::Level::info, "info"},
                                                     {LogEntry::Level::warn, "warn"},
                                                     {LogEntry::Level::error, "error"}}};

Result<std::optional<int64_t>> number_of(const Query& query, const std::string& name) {
  const auto found = query.find(name);
  if (found == query.end() || found->second.empty()) return std::optional<int64_t>();
  const auto number = parse_u64(found->second);
  if (!number || *number > static_cast<uint64_t>(INT64_MAX)) {
    return Error(Code::invalid_argument, "'" + name + "' must be a number");
  }
  return std::optional(static_cast<int64_t>(*number));
}

std::string text_of(const Query& query, const std::string& name) {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

Result<engine::UsageSample> measure(net::Task& task, engine::LiveSandbox& sandbox) {
  auto cpu_us = [](const engine::LiveUsage& usage) {
    return static_cast<double>(usage.total.user_us + usage.total.system_us);
  };
  const int64_t began_us = sys::monotonic_us();
  const engine::LiveUsage before = PD_TRY(sandbox.usage(task));
  task.sleep(kMeasured);
  const engine::LiveUsage after = PD_TRY(sandbox.usage(task));
  const double elapsed_us = static_cast<double>(sys::monotonic_us() - began_us);
  engine::UsageSample sample;
  sample.wall_ms = sys::wall_clock_ms();
  sample.cpu_percent = 100.0 * std::max(0.0, cpu_us(after) - cpu_us(before)) / elapsed_us;
  sample.memory_bytes = after.total.peak_memory_bytes;
  return sample;
}

object to_json(const engine::UsageSample& sample, const engine::LiveSandbox& sandbox) {
  object out;
  out["timestamp"] = timestamp(sample.wall_ms);
  out["timestampUnix"] = sample.wall_ms / 1000;
  out["cpuCount"] = listed_json(sandbox).at("cpuCount");
  out["cpuUsedPct"] = sample.cpu_percent;
  out["memUsed"] = sample.memory_bytes;
  out["memTotal"] = sandbox.setup().limits.memory_bytes;
  out["memCache"] = 0;
  out["diskUsed"] = sandbox.last_disk_used();
  out["diskTotal"] = sandbox.setup().limits.disk_bytes;
  return out;
}

object to_json(const LogEntry& entry) {
  object out;
  out["timestamp"] = timestamp(entry.wall_ms);
  out["message"] = entry.message;
  out["level"] = name_of(kLevelNames, entry.level);
  object fields;
  for (const auto& [name, value] : entry.fields) fields[name] = value;
  out["fields"] = std::move(fields);
  return out;
}

object line_of(const LogEntry& entry) {
  std::string line = entry.message;
  for (const auto& [name, value] : entry.fields) line += " " + name + "=" + value;
  object out;
  out["timestamp"] = timestamp(entry.wall_ms);
  out["line"] = std::move(line);
  return out;
}

bool is_wanted(const LogEntry& entry, const LogQuery& query) {
  if (entry.level < query.at_least) return false;
  if (entry.message.find(query.search) == std::string::npos) return false;
  if (!query.cursor_ms) return true;
  return query.order == Order::oldest_first ? entry.wall_ms >= *query.cursor_ms
                                            : entry.wall_ms <= *query.cursor_ms;
}

}  // namespace

Result<TimeRange> time_range(const Query& query) {
  return TimeRange{PD_TRY(number_of(query, "start")), PD_TRY(number_of(query, "end"))};
}

Result<boost::json::array> metrics_json(net::Task& task, engine::LiveSandbox& sandbox,
                                        const TimeRange& range) {
  const engine::UsageSample now = PD_TRY(measure(task, sandbox));
  sandbox.usage_history().add(now);
  boost::json::array out;
  if (!range.from_seconds && !range.to_seconds) {
    out.emplace_back(to_json(now, sandbox));
    return out;
  }
  const auto found = sandbox.usage_history().between(range.from_seconds.value_or(0),
                                                     range.to_seconds.value_or(INT64_MAX));
  for (const engine::UsageSample& sample : found) out.emplace_back(to_json(sample, sandbox));
  return out;
}

Result<LogQuery> log_query(const Query& query, ApiVersion version) {
  LogQuery wanted;
  wanted.cursor_ms = PD_TRY(number_of(query, version == ApiVersion::v1 ? "start" : "cursor"));
  const auto limit = PD_TRY(number_of(query, "limit"));
  if (limit && (*limit < 0 || *limit > static_cast<int64_t>(kMaxLogs))) {
    return Error(Code::invalid_argument, "'limit' must be 0 to 1000");
  }
  wanted.limit = limit ? static_cast<size_t>(*limit) : kMaxLogs;
  const std::string direction = text_of(query, "direction");
  if (direction == "backward") {
    wanted.order = Order::newest_first;
  } else if (!direction.empty() && direction != "forward") {
    return Error(Code::invalid_argument, "'direction' must be forward or backward");
  }
  const std::string level = text_of(query, "level");
  const bool is_debug = level.empty() || level == "debug";
  const auto known = value_of(kLevelNames, std::string_view(level));
  if (!is_debug && !known) {
    return Error(Code::invalid_argument, "'level' must be debug, info, warn or error");
  }
  if (!is_debug) wanted.at_least = *known;
  wanted.search = text_of(query, "search");
  return wanted;
}

object logs_json(const engine::SandboxLog& log, const LogQuery& query, ApiVersion version) {
  std::vector<const LogEntry*> found;
  for (const LogEntry& entry : log.entries()) {
    if (is_wanted(entry, query)) found.push_back(&entry);
  }
  if (query.order == Order::newest_first) std::ranges::reverse(found);
  if (found.size() > query.limit) found.resize(query.limit);
  boost::json::array entries;
  boost::json::array lines;
  for (const LogEntry* entry : found) {
    entries.emplace_back(to_json(*entry));
    lines.emplace_back(line_of(*entry));
  }
  object out;
  if (version == ApiVersion::v2) {
    out["logs"] = std::move(entries);
    return out;
  }
  out["logs"] = std::move(lines);
  out["logEntries"] = std::move(entries);
  return out;
}

}  // namespace paddock::api::e2b
