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

Result<LiveSetup> decode(const std::string& text) {
  const json::value value = PD_TRY(model::parse_json(text));
  if (!value.is_object()) return corrupt("");
  const json::object& object = value.get_object();
  LiveSetup setup;
  const std::string decision = PD_TRY(bytes_of(object, "decision"));
  setup.decision = PD_TRY(model::decode_decision(decision));
  setup.home = PD_TRY(bytes_of(object, "home"));
  setup.user = PD_TRY(decode_user(object));
  setup.users =
      object.contains("several_users") ? isolation::Users::several : isolation::Users::one;
  const std::string start = PD_TRY(bytes_of(object, "start"));
  if (!setup.start.ParseFromString(start)) return corrupt("start");
  const auto* limits = object.if_contains("limits");
  if (limits == nullptr || !limits->is_object()) return corrupt("limits");
  setup.limits = decode_limits(limits->get_object());
  // As bytes in a message: names and values may be no text.
  wire::Start environment;
  const std::string variables = PD_TRY(bytes_of(object, "environment"));
  if (!environment.ParseFromString(variables)) return corrupt("environment");
  for (const std::string& variable : environment.environment()) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos) return corrupt("environment");
    setup.environment.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  setup.ports_are_guarded = object.contains("guarded_ports");
  if (object.contains("host_mask")) setup.host_mask = PD_TRY(bytes_of(object, "host_mask"));
  setup.lifetime = isolation::Lifetime::leased;
  return setup;
}

std::string encode(const LiveSetup& setup) {
  wire::Start environment;
  for (const auto& [name, value] : setup.environment) {
    environment.add_environment(name + "=" + value);
  }
  json::object out;
  out["decision"] = base64_encode(model::encode(setup.decision));
  out["home"] = base64_encode(setup.home);
  out["user"] = encode(setup.user);
  if (setup.users == isolation::Users::several) out["several_users"] = true;
  out["start"] = base64_encode(setup.start.SerializeAsString());
  out["environment"] = base64_encode(environment.SerializeAsString());
  out["limits"] = encode(setup.limits);
  if (setup.ports_are_guarded) out["guarded_ports"] = true;
  if (!setup.host_mask.empty()) out["host_mask"] = base64_encode(setup.host_mask);
  return model::json_text(out);
}

}  // namespace

Status LiveRecords::put(const model::SandboxId& id, const LiveSetup& setup) {
  return database_.execute("INSERT OR REPLACE INTO live_record (id, setup) VALUES (?, ?)",
                           {id.str(), encode(setup)});
}

Result<std::optional<LiveSetup>> LiveRecords::find(const model::SandboxId& id) {
  const auto rows =
      PD_TRY(database_.query("SELECT setup FROM live_record WHERE id = ?", {id.str()}));
  if (rows.empty()) return std::optional<LiveSetup>();
  return std::optional(PD_TRY(decode(rows[0].text(0))));
}

Status LiveRecords::remove(const model::SandboxId& id) {
  return database_.execute("DELETE FROM live_record WHERE id = ?", {id.str()});
}

}  // namespace paddock::engine
