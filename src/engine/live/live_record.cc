#include "engine/live/live_record.h"

#include <boost/json.hpp>
#include <utility>

#include "base/base64.h"
#include "model/json.h"

namespace paddock::engine {
namespace {

namespace json = boost::json;

// Each limit by its name, so that a row of an older build keeps what it had.
template <typename Limits, typename Visit>
void visit_limits(Limits& limits, Visit visit) {
  visit("memory_bytes", limits.memory_bytes);
  visit("pids", limits.pids);
  visit("disk_bytes", limits.disk_bytes);
  visit("shm_bytes", limits.shm_bytes);
  visit("timeout_seconds", limits.timeout_seconds);
  visit("output_bytes", limits.output_bytes);
  visit("open_files", limits.open_files);
}

json::object encode(const model::Limits& limits) {
  json::object out;
  out["cpus"] = limits.cpus;
  visit_limits(limits, [&](const char* name, uint64_t value) { out[name] = value; });
  return out;
}

model::Limits decode_limits(const json::object& object) {
  model::Limits limits;
  if (const auto* cpus = object.if_contains("cpus"); cpus != nullptr && cpus->is_number()) {
    limits.cpus = cpus->to_number<double>();
  }
  visit_limits(limits, [&](const char* name, uint64_t& value) {
    const auto* field = object.if_contains(name);
    if (field != nullptr && field->is_number()) value = field->to_number<uint64_t>();
  });
  return limits;
}

Error corrupt(const std::string& field) {
  return Error(Code::data_corrupt, "the record of a live sandbox: '" + field + "'");
}

Result<std::string> bytes_of(const json::object& object, const char* field) {
  const auto* value = object.if_contains(field);
  if (value == nullptr || !value->is_string()) return corrupt(field);
  return base64_decode(value->get_string());
}

json::object encode(const GuestUser& user) {
  json::object out;
  out["name"] = base64_encode(user.name);
  out["home"] = base64_encode(user.home);
  out["shell"] = base64_encode(user.shell);
  out["uid"] = user.uid;
  out["gid"] = user.gid;
  out["groups"] = json::array(user.groups.begin(), user.groups.end());
  return out;
}

json::object encode(const LiveWorkspace& workspace) {
  json::object out;
  out["directory"] = base64_encode(workspace.directory.str());
  out["as_spelled"] = base64_encode(workspace.as_spelled.str());
  if (workspace.view) out["view"] = workspace.view->str();
  json::array& uppers = out["uppers"].emplace_array();
  for (const model::HostPath& upper : workspace.uppers) {
    uppers.emplace_back(base64_encode(upper.str()));
  }
  return out;
}

Result<std::optional<LiveWorkspace>> decode_workspace(const json::object& object) {
  const auto* value = object.if_contains("workspace");
  if (value == nullptr) return std::optional<LiveWorkspace>();
  if (!value->is_object()) return corrupt("workspace");
  const json::object& fields = value->get_object();
  LiveWorkspace workspace;
  workspace.directory = model::HostPath(PD_TRY(bytes_of(fields, "directory")));
  workspace.as_spelled = model::HostPath(PD_TRY(bytes_of(fields, "as_spelled")));
  if (const auto* view = fields.if_contains("view"); view != nullptr && view->is_string()) {
    workspace.view = PD_TRY(model::ViewId::parse(std::string(view->get_string())));
  }
  const auto* uppers = fields.if_contains("uppers");
  if (uppers == nullptr || !uppers->is_array()) return corrupt("workspace");
  for (const json::value& upper : uppers->get_array()) {
    if (!upper.is_string()) return corrupt("workspace");
    workspace.uppers.emplace_back(PD_TRY(base64_decode(upper.get_string())));
  }
  return std::optional(std::move(workspace));
}

Result<uint32_t> id_of(const json::value* value) {
  if (value == nullptr || !value->is_int64() || value->get_int64() < 0 ||
      value->get_int64() > UINT32_MAX) {
    return corrupt("user");
  }
  return static_cast<uint32_t>(value->get_int64());
}

Result<GuestUser> decode_user(const json::object& object) {
  const auto* value = object.if_contains("user");
  if (value == nullptr || !value->is_object()) return corrupt("user");
  const json::object& fields = value->get_object();
  GuestUser user;
  user.name = PD_TRY(bytes_of(fields, "name"));
  user.home = PD_TRY(bytes_of(fields, "home"));
  user.shell = PD_TRY(bytes_of(fields, "shell"));
  user.uid = PD_TRY(id_of(fields.if_contains("uid")));
  user.gid = PD_TRY(id_of(fields.if_contains("gid")));
  const auto* groups = fields.if_contains("groups");
  if (groups == nullptr || !groups->is_array()) return corrupt("user");
  for (const json::value& group : groups->get_array()) {
    user.groups.push_back(PD_TRY(id_of(&group)));
  }
  return user;
}

// As bytes in a message: names and values may be no text.
std::string encode(const std::map<std::string, std::string>& environment) {
  wire::Start message;
  for (const auto& [name, value] : environment) message.add_environment(name + "=" + value);
  return base64_encode(message.SerializeAsString());
}

Result<std::map<std::string, std::string>> decode_environment(const json::object& object,
                                                              const char* field) {
  std::map<std::string, std::string> environment;
  wire::Start message;
  const std::string bytes = PD_TRY(bytes_of(object, field));
  if (!message.ParseFromString(bytes)) return corrupt(field);
  for (const std::string& variable : message.environment()) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos) return corrupt(field);
    environment.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return environment;
}

json::object encode(const Lifecycle& lifecycle) {
  json::object out;
  out["pauses"] = lifecycle.at_deadline == Lifecycle::AtDeadline::pause;
  out["keep"] = name_of(kKeepNames, lifecycle.keep);
  out["auto_resume"] = lifecycle.auto_resume;
  return out;
}

Result<Lifecycle> decode_lifecycle(const json::object& object) {
  const auto* field = object.if_contains("lifecycle");
  if (field == nullptr || !field->is_object()) return corrupt("lifecycle");
  const json::object& fields = field->get_object();
  auto is_true = [&](const char* name) {
    const auto* flag = fields.if_contains(name);
    return flag != nullptr && flag->is_bool() && flag->get_bool();
  };
  const auto* keep = fields.if_contains("keep");
  if (keep == nullptr || !keep->is_string()) return corrupt("lifecycle");
  Lifecycle lifecycle;
  if (is_true("pauses")) lifecycle.at_deadline = Lifecycle::AtDeadline::pause;
  lifecycle.auto_resume = is_true("auto_resume");
  lifecycle.keep =
      value_of(kKeepNames, std::string_view(keep->get_string())).value_or(Keep::memory);
  return lifecycle;
}

Result<NetworkRequest> decode_network(const json::object& object) {
  NetworkRequest network;
  if (object.contains("network")) network.text = PD_TRY(bytes_of(object, "network"));
  if (const auto* internet = object.if_contains("internet")) {
    if (!internet->is_bool()) return corrupt("internet");
    network.internet = internet->get_bool();
  }
  return network;
}

Result<LiveSetup> decode_setup(const json::object& object) {
  LiveSetup setup;
  const std::string decision = PD_TRY(bytes_of(object, "decision"));
  setup.decision = PD_TRY(model::decode_decision(decision));
  setup.home = PD_TRY(bytes_of(object, "home"));
  setup.user = PD_TRY(decode_user(object));
  setup.workspace = PD_TRY(decode_workspace(object));
  setup.is_user_named = object.contains("named_user");
  if (object.contains("directory")) setup.directory = PD_TRY(bytes_of(object, "directory"));
  setup.users =
      object.contains("several_users") ? isolation::Users::several : isolation::Users::one;
  const std::string start = PD_TRY(bytes_of(object, "start"));
  if (!setup.start.ParseFromString(start)) return corrupt("start");
  const auto* limits = object.if_contains("limits");
  if (limits == nullptr || !limits->is_object()) return corrupt("limits");
  setup.limits = decode_limits(limits->get_object());
  setup.environment = PD_TRY(decode_environment(object, "environment"));
  setup.placeholder_key = PD_TRY(bytes_of(object, "placeholder_key"));
  if (object.contains("frozen_from_outside")) {
    setup.stopped_by = LiveSetup::StoppedBy::isolation;
  }
  setup.ports_are_guarded = object.contains("guarded_ports");
  if (object.contains("host_mask")) setup.host_mask = PD_TRY(bytes_of(object, "host_mask"));
  setup.lifetime = isolation::Lifetime::leased;
  return setup;
}

Result<LiveRecord> decode(const std::string& text) {
  const json::value value = PD_TRY(model::parse_json(text));
  if (!value.is_object()) return corrupt("");
  const json::object& object = value.get_object();
  LiveRecord record;
  record.setup = PD_TRY(decode_setup(object));
  record.base_template = PD_TRY(bytes_of(object, "base_template"));
  record.environment = PD_TRY(decode_environment(object, "made_with"));
  record.lifecycle = PD_TRY(decode_lifecycle(object));
  if (object.contains("main_command")) {
    const auto* number = object.if_contains("main_command");
    if (!number->is_int64() || number->get_int64() < 0 || number->get_int64() > UINT32_MAX) {
      return corrupt("main_command");
    }
    record.main_command = static_cast<uint32_t>(number->get_int64());
  }
  record.network = PD_TRY(decode_network(object));
  record.network.host_mask = record.setup.host_mask;
  if (record.setup.ports_are_guarded) record.network.traffic = NetworkRequest::Traffic::with_token;
  return record;
}

json::object encode(const LiveSetup& setup) {
  json::object out;
  out["decision"] = base64_encode(model::encode(setup.decision));
  out["home"] = base64_encode(setup.home);
  out["user"] = encode(setup.user);
  if (setup.workspace) out["workspace"] = encode(*setup.workspace);
  if (setup.is_user_named) out["named_user"] = true;
  if (!setup.directory.empty()) out["directory"] = base64_encode(setup.directory);
  if (setup.users == isolation::Users::several) out["several_users"] = true;
  out["start"] = base64_encode(setup.start.SerializeAsString());
  out["environment"] = encode(setup.environment);
  out["placeholder_key"] = base64_encode(setup.placeholder_key);
  if (setup.stopped_by == LiveSetup::StoppedBy::isolation) out["frozen_from_outside"] = true;
  out["limits"] = encode(setup.limits);
  if (setup.ports_are_guarded) out["guarded_ports"] = true;
  if (!setup.host_mask.empty()) out["host_mask"] = base64_encode(setup.host_mask);
  return out;
}

std::string encode(const LiveRecord& record) {
  json::object out = encode(record.setup);
  out["base_template"] = base64_encode(record.base_template);
  out["made_with"] = encode(record.environment);
  out["lifecycle"] = encode(record.lifecycle);
  if (record.main_command != 0) out["main_command"] = record.main_command;
  if (!record.network.text.empty()) out["network"] = base64_encode(record.network.text);
  if (record.network.internet) out["internet"] = *record.network.internet;
  return model::json_text(out);
}

}  // namespace

LiveRecord record_of(const LiveSandbox& sandbox) {
  const LiveInfo& info = sandbox.info();
  return {sandbox.setup(), info.base_template, info.environment,
          info.lifecycle,  info.main_command,  sandbox.network()};
}

Status LiveRecords::put(const model::SandboxId& id, const LiveRecord& record) {
  return database_.execute("INSERT OR REPLACE INTO live_record (id, setup) VALUES (?, ?)",
                           {id.str(), encode(record)});
}

Result<std::optional<LiveRecord>> LiveRecords::find(const model::SandboxId& id) {
  const auto rows =
      PD_TRY(database_.query("SELECT setup FROM live_record WHERE id = ?", {id.str()}));
  if (rows.empty()) return std::optional<LiveRecord>();
  return std::optional(PD_TRY(decode(rows[0].text(0))));
}

Status LiveRecords::remove(const model::SandboxId& id) {
  return database_.execute("DELETE FROM live_record WHERE id = ?", {id.str()});
}

}  // namespace paddock::engine
