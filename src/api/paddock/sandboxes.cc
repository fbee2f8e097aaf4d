// Sandboxes of our own surface: made, listed, told about, ended.
#include <boost/json.hpp>
#include <utility>

#include "api/e2b/json.h"
#include "api/paddock/request.h"
#include "api/templates.h"
#include "base/strings.h"
#include "model/json.h"
#include "sys/clock.h"

namespace paddock::api::own {
namespace {

using boost::json::object;
using engine::LiveSandbox;

constexpr int64_t kDefaultTimeoutSeconds = 300;

object texts_json(const std::map<std::string, std::string>& texts) {
  object out;
  for (const auto& [name, value] : texts) out[name] = value;
  return out;
}

// A directory of this machine: for whoever runs the server alone, and he comes by its socket.
Result<std::optional<model::HostPath>> workspace_of(const Request& request, const object& body) {
  const auto named = PD_TRY(e2b::text_field(body, "workspace"));
  if (!named) return std::optional<model::HostPath>();
  PD_TRY(check_keeper(request, "'workspace' names a directory of the server's machine"));
  if (named->starts_with('/') && named->find('\0') == std::string::npos) {
    return std::optional(model::HostPath(*named));
  }
  return Error(Code::invalid_argument, "'workspace' must be an absolute path");
}

}  // namespace

Status check_keeper(const Request& request, const std::string& what) {
  if (request.caller.sees == model::Caller::Sees::all) return {};
  return Error(Code::permission_denied, what + ": never over the network")
      .set_remedy("as whoever runs the server, by its socket: the `paddock` command line there");
}

Result<engine::CreateRequest> create_request(const Request& request, const object& body) {
  engine::CreateRequest wanted;
  const int64_t most = static_cast<int64_t>(request.parts.settings.max_timeout_seconds);
  wanted.template_name = PD_TRY(e2b::text_field(body, "template")).value_or("base");
  wanted.timeout_ms =
      PD_TRY(timeout_of(request, body, std::min(kDefaultTimeoutSeconds, most))) * 1000;
  wanted.metadata = PD_TRY(e2b::map_field(body, "metadata"));
  wanted.environment = PD_TRY(e2b::map_field(body, "environment"));
  wanted.workspace = PD_TRY(workspace_of(request, body));
  wanted.owner = request.caller.owner;
  if (wanted.workspace) wanted.owner.reach = model::Owner::Reach::socket;
  wanted.quota = request.parts.settings.quota_of(request.caller.label);
  return wanted;
}

boost::json::value key_json(const std::string& key) {
  return key.empty() ? boost::json::value() : boost::json::value(key);
}

object json_of(const LiveSandbox& sandbox) {
  const engine::LiveInfo& info = sandbox.info();
  const model::Limits& limits = sandbox.setup().limits;
  object out;
  out["id"] = sandbox.id();
  out["template"] = info.template_name;
  out["state"] = name_of(engine::kSandboxStateNames, info.state);
  out["created"] = e2b::timestamp(info.created_ms);
  const bool paused = info.state == engine::SandboxState::paused;
  out["deadline"] = nullptr;
  if (!paused) out["deadline"] = e2b::timestamp(info.deadline_ms);
  if (paused) out["kept"] = name_of(engine::kKeepNames, info.kept);
  out["key"] = key_json(info.owner.key.str());
  out["metadata"] = texts_json(info.metadata);
  out["level"] = name_of(model::kLevelNames, sandbox.setup().decision.level);
  out["home"] = sandbox.setup().home;
  if (const auto& workspace = sandbox.workspace()) {
    model::put_bytes(out, "workspace", workspace->directory.str());
    if (info.view) out["view"] = info.view->str();
  }
  out["limits"] = object{{"memory_bytes", limits.memory_bytes},
                         {"disk_bytes", limits.disk_bytes},
                         {"cpus", limits.cpus},
                         {"pids", limits.pids}};
  return out;
}

Result<int64_t> timeout_of(const Request& request, const object& body, int64_t otherwise) {
  const int64_t seconds = PD_TRY(e2b::number_field(body, "timeout_s")).value_or(otherwise);
  const auto most = static_cast<int64_t>(request.parts.settings.max_timeout_seconds);
  if (seconds >= 1 && seconds <= most) return seconds;
  return Error(Code::invalid_argument,
               "'timeout_s' must be 1 to " + std::to_string(most) + " seconds");
}

Status list_sandboxes(const Request& request) {
  boost::json::array list;
  for (const auto& sandbox : request.parts.sandboxes.all()) {
    if (request.caller.may_see(sandbox->info().owner)) list.emplace_back(json_of(*sandbox));
  }
  return answer(request, 200, object{{"sandboxes", std::move(list)}});
}

Status create_sandbox(const Request& request) {
  auto body =
      read_object(request, {"template", "timeout_s", "metadata", "environment", "workspace"});
  if (!body.ok()) return answer_error(request, body.error());
  auto wanted = create_request(request, *body);
  if (!wanted.ok()) return answer_error(request, wanted.error());
  const Status origin =
      find_origin({request.task, request.parts.sandboxes, request.caller}, *wanted);
  if (!origin.ok()) return answer_error(request, origin.error());
  auto made = request.parts.sandboxes.create(request.task, std::move(*wanted));
  if (!made.ok()) return answer_error(request, made.error());
  request.exchange.note().sandbox = (*made)->id();
  return answer(request, 201, json_of(**made));
}

Status show_sandbox(const Request& request) {
  auto sandbox = sandbox_of(request);
  if (!sandbox.ok()) return answer_error(request, sandbox.error());
  object out = json_of(**sandbox);
  out["decision"] = model::to_json((*sandbox)->setup().decision);
  auto usage = (*sandbox)->usage(request.task);
  if (usage.ok()) {
    out["usage"] = model::to_json(usage->total);
    out["processes"] = usage->processes;
  } else if (!(*sandbox)->is_running()) {
    out["usage"] = model::to_json((*sandbox)->total_usage(request.task));
  } else {
    return answer_error(request, usage.error());
  }
  object rules;
  for (const auto& [host, verb] : (*sandbox)->network().words)
    rules[host] = name_of(engine::kChangeVerbNames, verb);
  out["rules"] = std::move(rules);
  return answer(request, 200, out);
}

Status kill_sandbox(const Request& request) {
  auto sandbox = sandbox_of(request);
  if (!sandbox.ok()) return answer_error(request, sandbox.error());
  const Status killed =
      request.parts.sandboxes.kill(request.task, (*sandbox)->id(), "it was killed");
  return killed.ok() ? answer_nothing(request) : answer_error(request, killed.error());
}

Status set_timeout(const Request& request) {
  auto sandbox = sandbox_of(request);
  if (!sandbox.ok()) return answer_error(request, sandbox.error());
  auto body = read_object(request, {"timeout_s"});
  if (!body.ok()) return answer_error(request, body.error());
  auto seconds = timeout_of(request, *body, 0);
  if (!seconds.ok()) return answer_error(request, seconds.error());
  const Status set = request.parts.sandboxes.set_deadline(request.task, **sandbox,
                                                          sys::wall_clock_ms() + *seconds * 1000);
  return set.ok() ? answer_nothing(request) : answer_error(request, set.error());
}

Status show_decision(const Request& request) {
  auto sandbox = sandbox_of(request);
  if (!sandbox.ok()) return answer_error(request, sandbox.error());
  return answer(request, 200, model::to_json((*sandbox)->setup().decision));
}

Status list_denials(const Request& request) {
  auto sandbox = sandbox_of(request);
  if (!sandbox.ok()) return answer_error(request, sandbox.error());
  boost::json::array list;
  for (const model::Denial& denial : (*sandbox)->denials()) list.emplace_back(to_json(denial));
  return answer(request, 200, object{{"denials", std::move(list)}});
}

// ---- what happened

Status list_events(const Request& request) {
  const std::string since = request.query("since");
  const auto number = since.empty() ? std::optional<uint64_t>(0) : parse_u64(since);
  if (!number) {
    return answer_error(request, Error(Code::invalid_argument, "'since' is a number of an event"));
  }
  boost::json::array list;
  for (const Telemetry::Event& event : request.parts.telemetry.events()) {
    const bool is_wanted = event.seq > *number && request.caller.may_see(event.owner);
    const std::string sandbox = request.query("sandbox");
    if (is_wanted && (sandbox.empty() || sandbox == event.sandbox)) list.emplace_back(event.fields);
  }
  return answer(request, 200, object{{"events", std::move(list)}});
}

Status show_usage(const Request& request) {
  auto rows = request.parts.telemetry.usage(request.task, request.query("since"));
  if (!rows.ok()) return answer_error(request, rows.error());
  boost::json::array list;
  for (const service::UsageRow& row : *rows) {
    const bool is_own = row.key == request.caller.owner.key.str();
    if (!is_own && request.caller.sees == model::Caller::Sees::own) continue;
    list.emplace_back(object{{"day", row.day},
                             {"key", key_json(row.key)},
                             {"label", row.label},
                             {"sandboxes", row.usage.sandboxes},
                             {"sandbox_ms", row.usage.sandbox_ms},
                             {"cpu_us", row.usage.cpu_us},
                             {"received_bytes", row.usage.received_bytes},
                             {"sent_bytes", row.usage.sent_bytes}});
  }
  return answer(request, 200, object{{"usage", std::move(list)}});
}

}  // namespace paddock::api::own
