#include "model/json.h"

#include <fmt/core.h>

#include <boost/json.hpp>

namespace paddock::model {
namespace {

using boost::json::array;
using boost::json::object;

constexpr int kReportFormat = 1;  // raised when a documented field changes its meaning or goes

template <typename T>
array list_of(const std::vector<T>& values) {
  array out;
  for (const T& value : values) out.emplace_back(to_json(value));
  return out;
}

object to_json(const FileState& state) {
  object out;
  out["type"] = name_of(kFileTypeNames, state.type);
  out["mode"] = fmt::format("{:04o}", state.mode & 07777);
  out["size"] = state.size;
  if (!state.digest.empty()) out["sha256"] = state.digest;
  if (state.type == FileType::symlink) put_bytes(out, "target", state.target);
  if (!state.xattrs.empty()) {
    array& xattrs = out["xattrs"].emplace_array();
    for (const auto& [name, value] : state.xattrs) {
      object& xattr = xattrs.emplace_back(object()).as_object();
      put_bytes(xattr, "name", name);
      put_bytes(xattr, "value", value);
    }
  }
  return out;
}

boost::json::value state_or_null(const FileState& state) {
  if (state.type == FileType::absent) return nullptr;
  return to_json(state);
}

}  // namespace

object to_json(const Usage& usage) {
  return object{
      {"wall_us", usage.wall_us},           {"user_us", usage.user_us},
      {"system_us", usage.system_us},       {"peak_memory_bytes", usage.peak_memory_bytes},
      {"stdout_bytes", usage.stdout_bytes}, {"stderr_bytes", usage.stderr_bytes}};
}

object to_json(const Denial& denial) {
  object out;
  out["kind"] = name_of(kDenialKindNames, denial.kind);
  put_bytes(out, "what", denial.what);
  put_bytes(out, "rule", denial.rule);
  put_bytes(out, "remedy", denial.remedy);
  out["pid"] = denial.pid;
  put_bytes(out, "process", denial.process);
  out["count"] = denial.count;
  out["first_ms"] = denial.first_ms;
  return out;
}

object to_json(const Outcome& outcome) {
  object out;
  out["ending"] = name_of(kEndingNames, outcome.ending);
  out["code"] = outcome.code;
  out["exit_status"] = exit_status(outcome);
  put_bytes(out, "reason", outcome.reason);
  out["core_dumped"] = outcome.core_dumped;
  out["usage"] = to_json(outcome.usage);
  out["denials"] = list_of(outcome.denials);
  out["denials_dropped"] = outcome.denials_dropped;
  return out;
}

object to_json(const Control& control) {
  object out;
  put_bytes(out, "name", control.name);
  out["state"] = name_of(kControlStateNames, control.state);
  put_bytes(out, "detail", control.detail);
  return out;
}

object to_json(const Decision& decision) {
  object out;
  out["level"] = name_of(kLevelNames, decision.level);
  out["trust"] = name_of(kTrustNames, decision.trust);
  out["accepted_by"] = nullptr;
  if (decision.accepted_by) put_bytes(out, "accepted_by", *decision.accepted_by);
  put_bytes(out, "root_template", decision.root_template);
  out["controls"] = list_of(decision.controls);
  put_bytes(out, "hidden", decision.hidden);
  put_bytes(out, "grants", decision.grants);
  return out;
}

object to_json(const Change& change) {
  object out;
  put_bytes(out, "path", change.path);
  out["kind"] = name_of(kChangeKindNames, change.kind);
  out["from"] = nullptr;
  if (change.from) put_bytes(out, "from", *change.from);
  out["before"] = state_or_null(change.before);
  out["after"] = state_or_null(change.after);
  out["held_reason"] = nullptr;
  if (!change.held_reason.empty()) put_bytes(out, "held_reason", change.held_reason);
  out["added_lines"] = change.added_lines;
  out["deleted_lines"] = change.deleted_lines;
  out["binary"] = change.binary;
  out["link_of"] = nullptr;
  if (!change.link_of.empty()) put_bytes(out, "link_of", change.link_of);
  return out;
}

object to_json(const ChangeSet& changes) {
  object out;
  out["changes"] = list_of(changes.changes);
  put_bytes(out, "git_paths", changes.git_paths);
  put_bytes(out, "skipped", changes.skipped);
  return out;
}

object to_json(const ChangeCounts& counts) {
  return object{{"added", counts.added},
                {"modified", counts.modified},
                {"deleted", counts.deleted},
                {"renamed", counts.renamed},
                {"held", counts.held}};
}

object to_json(const RunReport& report) {
  object out;
  out["format"] = kReportFormat;
  out["outcome"] = to_json(report.outcome);
  out["decision"] = nullptr;
  if (report.decision) out["decision"] = to_json(*report.decision);
  out["view"] = nullptr;
  if (!report.view.empty()) out["view"] = report.view.str();
  out["changes"] = nullptr;
  if (report.changes) out["changes"] = to_json(*report.changes);
  out["network"] = to_json(report.network);
  return out;
}

std::string encode(const Outcome& outcome) {
  return json_text(to_json(outcome));
}
std::string encode(const Decision& decision) {
  return json_text(to_json(decision));
}

std::string pretty(const RunReport& report) {
  return pretty_json(to_json(report));
}

}  // namespace paddock::model
