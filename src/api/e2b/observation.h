// What clients are told of a sandbox while it runs: what it uses, and what happened in it.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "api/e2b/control_json.h"
#include "api/e2b/files_http.h"
#include "base/result.h"
#include "engine/live/live_sandbox.h"
#include "net/task.h"

namespace paddock::api::e2b {

// Whole seconds, both included. Where either is given, samples of earlier questions are told, too;
// one is taken now in any case, and told where it is within.
struct TimeRange {
  std::optional<int64_t> from_seconds;
  std::optional<int64_t> to_seconds;
};
Result<TimeRange> time_range(const Query& query);
Result<boost::json::array> metrics_json(net::Task& task, engine::LiveSandbox& sandbox,
                                        const TimeRange& range);

struct LogQuery {
  enum class Order { oldest_first, newest_first } order = Order::oldest_first;
  std::optional<int64_t> cursor_ms;  // from there on, in that order
  size_t limit = 1000;
  engine::LogEntry::Level at_least = engine::LogEntry::Level::info;
  std::string search;  // in the message; empty: all
};
Result<LogQuery> log_query(const Query& query, ApiVersion version);
boost::json::object logs_json(const engine::SandboxLog& log, const LogQuery& query,
                              ApiVersion version);

}  // namespace paddock::api::e2b
