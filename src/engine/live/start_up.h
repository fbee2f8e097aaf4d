// From a request to a sandbox whose agent answers. Blocks: for a worker's thread.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/live/code_interpreter.h"
#include "engine/live/live_sandbox.h"
#include "engine/run_plan.h"

namespace paddock::engine {

// Where the agent's program is shown inside, for file operations.
inline constexpr const char* kAgentInside = "/run/paddock/agent";
// The same program as `sudo`, where the sandbox has several users.
inline constexpr const char* kSudoInside = "/usr/bin/sudo";

// Uid and gid of the user inside, where root started the daemon.
inline constexpr uint32_t kLiveUser = 1000;

// What leaves a live sandbox.
struct LiveEgress {
  Network& network;
  std::shared_ptr<const EgressSource> granted;  // by the daemon's policy
};

struct LivePlan {
  model::Level level = model::Level::container;
  RunPlan run;
  model::Limits limits;
  std::string placeholder_key;
  std::shared_ptr<const EgressSource> granted;  // what policy lets out
  std::optional<LiveWorkspace> workspace;
  std::shared_ptr<view::OpenView> view;  // of the workspace; in the place of run.view
};

// Templates that need nobody to have made them.
inline constexpr std::array<std::string_view, 2> kBuiltInTemplates{"base", kCodeInterpreter};
bool is_built_in(std::string_view template_name);

struct LiveRequest {
  const std::string& template_name;
  const NetworkRequest& network;
  std::optional<model::HostPath> root = std::nullopt;  // of a template that is a directory
  const LiveWorkspace* workspace = nullptr;            // its view is opened
  model::HostPath caller_home{};                       // never a workspace itself
};
// not_found: no such template. invalid_argument: a rule that cannot be. Nothing exists yet.
Result<LivePlan> plan_live(const Parts& parts, const policy::Compiled& policy,
                           const LiveEgress& egress, const LiveRequest& request);

struct StartedUp {
  LiveSetup setup;
  LiveParts parts;
};
// On the thread of `worker`, which the sandbox dies with. On error nothing is left.
struct StartUp {
  net::Worker& worker;
  const LiveEgress& egress;
  uint64_t deadline_ms = 0;
};
Result<StartedUp> start_up(const Parts& parts, LivePlan plan, const StartUp& options);

// What leaves a sandbox whose agent another daemon started.
struct Rejoined {
  std::vector<std::string> granted;      // by policy, one line a rule
  std::unique_ptr<LiveNetwork> network;  // both or none, as in LiveParts
  std::unique_ptr<EgressBridge> bridge;
};
struct Rejoining {
  const LiveEgress& egress;
  const model::SandboxId& id;
  const NetworkRequest& network;
  const std::string& placeholder_key;
};
Result<Rejoined> rejoin_network(const Rejoining& what, AgentLink& link);

}  // namespace paddock::engine
