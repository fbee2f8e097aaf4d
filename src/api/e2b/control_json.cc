#include "api/e2b/control_json.h"

#include <sys/sysinfo.h>

#include <cmath>

#include "api/e2b/json.h"
#include "base/strings.h"
#include "model/json.h"

namespace paddock::api::e2b {
namespace {

using boost::json::object;

constexpr int64_t kMaxTimeoutSeconds = 365 * 86'400;  // the server's settings say less
constexpr int64_t kMiB = 1 << 20;

Error unbuilt(std::string_view field, std::string_view what) {
  return Error(Code::unsupported, "'" + std::string(field) + "': " + std::string(what))
      .set_remedy("leave the field out");
}

bool is_set(const object& body, std::string_view name) {
  const auto* value = body.if_contains(name);
  if (value == nullptr || value->is_null()) return false;
  if (value->is_bool()) return value->get_bool();
  if (value->is_array()) return !value->get_array().empty();
  if (value->is_object()) return !value->get_object().empty();
  return true;
}

// Everything that would change what the sandbox may do or what becomes of it.
Status refuse_unbuilt(const object& body) {
  if (is_set(body, "volumeMounts")) return unbuilt("volumeMounts", "volumes are not built yet");
  if (is_set(body, "iam")) return unbuilt("iam", "workload identities are not built yet");
  return {};
}

Result<engine::Lifecycle> lifecycle_fields(const object& body) {
  engine::Lifecycle lifecycle;
  const bool pauses = PD_TRY(flag_field(body, "autoPause")).value_or(false);
  const auto keeps_memory = PD_TRY(flag_field(body, "autoPauseMemory"));
  const auto resume = PD_TRY(object_field(body, "autoResume"));
  if (resume) lifecycle.auto_resume = PD_TRY(flag_field(*resume, "enabled")).value_or(false);
  if (pauses) lifecycle.at_deadline = engine::Lifecycle::AtDeadline::pause;
  if (keeps_memory == false) lifecycle.keep = engine::Keep::files;
  if (keeps_memory == false && !pauses) {
    return Error(Code::invalid_argument, "'autoPauseMemory': false needs 'autoPause': true");
  }
  if (keeps_memory == false && lifecycle.auto_resume) {
    return Error(Code::invalid_argument,
                 "'autoResume' needs the memory that 'autoPauseMemory': false gives up");
  }
  return lifecycle;
}

unsigned cpus_of(const model::Limits& limits) {
  if (limits.cpus > 0) return static_cast<unsigned>(std::ceil(limits.cpus));
  return static_cast<unsigned>(::get_nprocs());
}

}  // namespace

Result<std::optional<int64_t>> timeout_field(const object& body, std::string_view name) {
  const auto seconds = PD_TRY(number_field(body, name));
  if (!seconds) return std::optional<int64_t>();
  if (*seconds <= 0 || *seconds > kMaxTimeoutSeconds) {
    return Error(Code::invalid_argument,
                 "'" + std::string(name) + "' must be a number of seconds, 1 or more");
  }
  return std::optional(*seconds * 1000);
}

Result<engine::CreateRequest> create_request(const object& body, ApiVersion version,
                                             const SecretLookup& secrets) {
  engine::CreateRequest request;
  const auto name = PD_TRY(text_field(body, "templateID"));
  if (!name) return Error(Code::invalid_argument, "'templateID' is missing");
  request.template_name = *name;
  const int64_t otherwise = version == ApiVersion::v1 ? 15'000 : 300'000;
  request.timeout_ms = PD_TRY(timeout_field(body)).value_or(otherwise);
  request.metadata = PD_TRY(map_field(body, "metadata"));
  request.environment = PD_TRY(map_field(body, "envVars"));
  request.lifecycle = PD_TRY(lifecycle_fields(body));
  PD_TRY(refuse_unbuilt(body));
  // Only told to the server: the client itself starts the gateway, as a command inside.
  PD_TRY(object_field(body, "mcp"));
  request.network = PD_TRY(network_of_create(body, secrets));
  return request;
}

object session_json(const engine::LiveSandbox& sandbox, const Reach& reach) {
  object out;
  out["templateID"] = sandbox.info().template_name;
  out["sandboxID"] = sandbox.id();
  out["clientID"] = kClientId;
  out["envdVersion"] = kEnvdVersion;
  out["envdAccessToken"] = reach.token;
  const bool guarded = sandbox.network().traffic == engine::NetworkRequest::Traffic::with_token;
  out["trafficAccessToken"] = nullptr;
  if (guarded) out["trafficAccessToken"] = reach.traffic_token;
  out["domain"] = reach.domain;
  return out;
}

std::string state_json(const engine::LiveSandbox& sandbox) {
  using enum engine::SandboxState;
  const engine::SandboxState state = sandbox.info().state;
  return state == paused ? "paused" : "running";
}

object listed_json(const engine::LiveSandbox& sandbox) {
  const engine::LiveInfo& info = sandbox.info();
  const model::Limits& limits = sandbox.setup().limits;
  object out;
  out["templateID"] = info.template_name;
  out["alias"] = info.template_name;
  out["sandboxID"] = sandbox.id();
  out["clientID"] = kClientId;
  out["envdVersion"] = kEnvdVersion;
  out["startedAt"] = timestamp(info.created_ms);
  out["endAt"] = timestamp(info.deadline_ms);
  out["cpuCount"] = cpus_of(limits);
  out["memoryMB"] = static_cast<int64_t>(limits.memory_bytes) / kMiB;
  out["diskSizeMB"] = static_cast<int64_t>(limits.disk_bytes) / kMiB;
  out["state"] = state_json(sandbox);
  object metadata;
  for (const auto& [key, value] : info.metadata) metadata[key] = value;
  out["metadata"] = std::move(metadata);
  return out;
}

object detail_json(const engine::LiveSandbox& sandbox, const Reach& reach) {
  object out = listed_json(sandbox);
  for (auto& [key, value] : session_json(sandbox, reach)) out[key] = value;
  object lifecycle;
  const engine::Lifecycle& set = sandbox.info().lifecycle;
  lifecycle["autoResume"] = set.auto_resume;
  lifecycle["onTimeout"] =
      set.at_deadline == engine::Lifecycle::AtDeadline::pause ? "pause" : "kill";
  out["lifecycle"] = std::move(lifecycle);
  add_network(out, sandbox);
  // Ours: what holds for this sandbox on this host. Clients that do not know it pass over it.
  out["decision"] = model::to_json(sandbox.setup().decision);
  return out;
}

}  // namespace paddock::api::e2b
