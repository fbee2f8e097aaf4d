// audit verify and show: the server's audit log, read.
#include <fmt/core.h>

#include <boost/json.hpp>
#include <optional>
#include <string>

#include "base/strings.h"
#include "cmd/console.h"
#include "cmd/verbs.h"
#include "model/json.h"
#include "service/audit_reader.h"
#include "sys/clock.h"

namespace paddock::cmd {
namespace {

using boost::json::object;
using service::AuditReport;

constexpr int kBroken = 1;

Result<std::string> directory_of(Context& context) {
  return (PD_TRY(context.home()) / "audit").str();
}

// ---- verify

Result<std::optional<service::AuditPoint>> parse_noted(const std::string& text) {
  if (text.empty()) return std::optional<service::AuditPoint>();
  const size_t colon = std::min(text.find(':'), text.size());
  const auto seq = parse_u64(text.substr(0, colon));
  if (!seq || text.size() - colon != 65) {
    return Error(Code::invalid_argument,
                 fmt::format("--noted {}: not the form SEQ:HASH", printable(text)))
        .set_remedy("`paddock audit verify` prints it");
  }
  return std::optional(service::AuditPoint{*seq, text.substr(colon + 1)});
}

std::string place_of(const service::AuditProblem& problem) {
  return problem.line == 0 ? problem.file : fmt::format("{}:{}", problem.file, problem.line);
}

void print_json(const AuditReport& report) {
  object out;
  out["ok"] = report.problems.empty();
  out["records"] = report.records;
  out["first"] = report.first_seq;
  out["last"] = object{{"seq", report.last.seq}, {"hash", report.last.hash}};
  out["torn_bytes"] = report.torn_bytes;
  boost::json::array problems;
  for (const service::AuditProblem& problem : report.problems) {
    problems.emplace_back(
        object{{"file", problem.file}, {"line", problem.line}, {"what", problem.what}});
  }
  out["problems"] = std::move(problems);
  out["more_problems"] = report.more_problems;
  print(model::pretty_json(out));
}

void print_report(const AuditReport& report) {
  for (const service::AuditProblem& problem : report.problems) {
    print(fmt::format("{}: {}\n", printable(place_of(problem)), printable(problem.what)));
  }
  if (report.more_problems > 0) print(fmt::format("and {} more\n", report.more_problems));
  if (report.torn_bytes > 0) {
    print(fmt::format("the last line is torn ({} bytes): the next server cuts it off\n",
                      report.torn_bytes));
  }
  if (report.first_seq > 1) {
    print(fmt::format("records 1 to {} are not here\n", report.first_seq - 1));
  }
  print(fmt::format("{}: {}, the last one {}:{}\n", report.problems.empty() ? "whole" : "BROKEN",
                    plural(report.records, "record"), report.last.seq, report.last.hash));
}

Result<int> verify(const AuditArgs& args, Context& context) {
  const auto noted = PD_TRY(parse_noted(args.noted));
  const std::string directory = PD_TRY(directory_of(context));
  const AuditReport report = PD_TRY(service::verify_audit(directory, noted));
  if (args.json) {
    print_json(report);
  } else {
    print_report(report);
  }
  return report.problems.empty() ? 0 : kBroken;
}

// ---- show

// As the log writes times, so that text compares like time.
Result<std::string> parse_since(const std::string& text) {
  if (text.empty() || text.find('T') != std::string::npos || text.find('-') == 4) return text;
  const auto seconds = parse_seconds(text);
  if (!seconds.ok()) {
    return Error(Code::invalid_argument, fmt::format("--since {}: no time", printable(text)))
        .set_remedy("for example --since 15m, or --since 2026-11-30T09:00:00Z");
  }
  return service::rfc3339(sys::wall_clock_ms() - static_cast<int64_t>(*seconds) * 1000);
}

// Of a field; "" when there is none.
std::string text_of(const object& fields, std::string_view name) {
  const boost::json::value* value = fields.if_contains(name);
  if (value == nullptr) return "";
  return value->is_string() ? std::string(value->get_string()) : boost::json::serialize(*value);
}

std::string words_of_record(const object& fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    const bool is_shown = name == "seq" || name == "time" || name == "event";
    if (is_shown || name == "prev" || name == "hash") continue;
    out += fmt::format("  {}={}", std::string_view(name), text_of(fields, name));
  }
  return out;
}

Result<int> show(const AuditArgs& args, Context& context) {
  const std::string since = PD_TRY(parse_since(args.since));
  const std::string directory = PD_TRY(directory_of(context));
  PD_TRY(service::read_audit(directory, [&](const service::AuditLine& line, std::string_view text) {
    const std::string time = text_of(line.fields, "time");
    if (time < since) return;
    if (args.json) {
      print(std::string(text) + "\n");
      return;
    }
    print(printable(fmt::format("{}  {}  {}{}", line.point.seq, time, text_of(line.fields, "event"),
                                words_of_record(line.fields))) +
          "\n");
  }));
  return 0;
}

}  // namespace

int audit(const AuditArgs& args, Context& context) {
  auto done = args.verb == AuditArgs::Verb::verify ? verify(args, context) : show(args, context);
  return done.ok() ? *done : fail(done.error());
}

}  // namespace paddock::cmd
