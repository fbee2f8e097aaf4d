#include "view/public_json.h"

#include "model/json.h"

namespace paddock::view {
namespace {

using boost::json::array;
using boost::json::object;

// Stored documents come back as what they are; one that cannot be read is told, not hidden.
boost::json::value stored(const std::string& text) {
  if (text.empty()) return nullptr;
  auto parsed = model::parse_json(text);
  return parsed.ok() ? *parsed : boost::json::value(object{{"unreadable", true}});
}

}  // namespace

object to_json(const ViewInfo& info) {
  object out;
  out["id"] = info.id.str();
  model::put_bytes(out, "workspace", info.workspace.str());
  out["state"] = name_of(kViewStateNames, info.state);
  out["created_ms"] = info.created_ms;
  out["commands"] = info.steps;
  out["bytes"] = info.bytes;
  return out;
}

object to_json(const Step& step) {
  object out;
  out["number"] = step.number;
  model::put_bytes(out, "argv", step.argv);
  out["started_ms"] = step.started_ms;
  out["ended_ms"] = step.ended_ms == 0 ? boost::json::value(nullptr) : step.ended_ms;
  out["undone"] = step.undone;
  out["decision"] = stored(step.decision_json);
  out["outcome"] = stored(step.outcome_json);
  out["network"] = stored(step.network_json);
  return out;
}

object to_json(const ViewInfo& info, const std::vector<Step>& steps) {
  object out = to_json(info);
  array& list = out["steps"].emplace_array();
  for (const Step& step : steps) list.push_back(to_json(step));
  return out;
}

object to_json(const ApplyReport& report, const std::vector<std::string>& git_paths) {
  object out;
  out["conflict"] = report.has_conflict;
  array& list = out["paths"].emplace_array();
  for (const AppliedPath& path : report.paths) {
    object& entry = list.emplace_back(object()).as_object();
    model::put_bytes(entry, "path", path.path);
    entry["result"] = name_of(kApplyResultNames, path.result);
    entry["reason"] = path.reason;
  }
  model::put_bytes(out, "git_paths", git_paths);
  return out;
}

}  // namespace paddock::view
