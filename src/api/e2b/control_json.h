// Bodies of the control plane, to and from the engine's values. Pure.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "api/e2b/network_json.h"
#include "base/result.h"
#include "engine/live/sandboxes.h"

namespace paddock::api::e2b {

inline constexpr const char* kClientId = "paddock";
inline constexpr const char* kEnvdVersion = "0.6.13";  // gates features in clients

enum class ApiVersion { v1, v2 };

// invalid_argument: a field of the wrong type or range. unsupported: something is asked for that
// this server cannot give; nothing that is asked for is ignored.
Result<engine::CreateRequest> create_request(const boost::json::object& body, ApiVersion version,
                                             const SecretLookup& secrets);
// Milliseconds of a `timeout`; nullopt when there is none.
Result<std::optional<int64_t>> timeout_field(const boost::json::object& body,
                                             std::string_view name = "timeout");

// How a sandbox is reached.
struct Reach {
  std::string token;          // of envd
  std::string traffic_token;  // of its ports
  std::string domain;         // below which they have names
};

// What create and connect answer.
boost::json::object session_json(const engine::LiveSandbox& sandbox, const Reach& reach);
// running or paused: what clients know of.
std::string state_json(const engine::LiveSandbox& sandbox);
// What list shows of each.
boost::json::object listed_json(const engine::LiveSandbox& sandbox);
boost::json::object detail_json(const engine::LiveSandbox& sandbox, const Reach& reach);

}  // namespace paddock::api::e2b
