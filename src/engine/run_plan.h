// From a request to the pieces of a sandbox: which level, which files, which grants. Everything
// that can be refused is refused here, before anything exists.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/egress_plan.h"
#include "engine/engine.h"
#include "engine/guest_environment.h"
#include "engine/socket_plan.h"
#include "isolation/backend.h"
#include "model/decision.h"
#include "view/workspace.h"

namespace paddock::engine {

inline constexpr const char* kGuestHome = "/home/user";
inline constexpr const char* kGuestHostname = "paddock";

// The parts of a run that stand before the sandbox does.
struct RunPlan {
  isolation::SandboxPlan sandbox;
  model::Decision decision;              // without the backend's controls
  std::unique_ptr<view::OpenView> view;  // null in modes direct and none
  EgressPlan egress;
  std::vector<PlannedSocket> sockets;  // of the host
  GuestEnvironment environment;
  model::GuestPath directory;  // where the command starts
};

// Resolves the root, opens the view, collects grants. `id` and `state_dir` of the sandbox are left
// to the caller.
Result<RunPlan> make_run_plan(const RunRequest& request, const Parts& parts,
                              const model::Decision& level_choice);

}  // namespace paddock::engine
