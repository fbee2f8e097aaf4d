// Composes a sandbox from image, view, isolation and agent, and sees its life through. The only
// layer that knows more than one of them. Adapters (command line, wire APIs) translate to and from
// it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/egress_plan.h"
#include "engine/network.h"
#include "engine/reconcile.h"
#include "engine/ssh_trust.h"
#include "image/image_store.h"
#include "isolation/backend.h"
#include "model/decision.h"
#include "model/ids.h"
#include "model/paths.h"
#include "model/run_report.h"
#include "policy/compile.h"
#include "store/database.h"
#include "view/workspace.h"

namespace paddock::engine {

// The files that a command reads and writes. Owned by the caller, which must not touch them
// meanwhile.
struct Stdio {
  int input = 0;
  int output = 1;
  int error = 2;
  // `terminal` gives the command a terminal of its own, with the size of `input`'s.
  enum class Kind { pipes, terminal } kind = Kind::pipes;
};

struct RunRequest {
  policy::Compiled policy;
  model::HostPath workspace;  // canonical; not used in mode `none`
  // The same as the caller spells it, through symlinks that shall lead there inside as well.
  model::HostPath workspace_as_spelled;
  model::HostPath directory;  // where the caller stands
  std::vector<std::string> argv;
  std::map<std::string, std::string> caller_environment;
  model::HostPath caller_home;        // never a workspace itself
  std::optional<model::ViewId> view;  // go on in this view
  Stdio stdio;
  Learning learning = Learning::no;
  std::optional<EgressPlan> egress;  // made already; else it is made from the policy
};

// What the engine is made of. Everything outlives the engine.
struct Parts {
  model::HostPath home;  // PADDOCK_HOME
  model::HostPath agent_program;
  store::Database& database;
  image::ImageStore& images;
  view::ViewStore& views;
  BackendMaker make_backend;
  model::HostPath share{};  // of this installation: programs that are shown inside; empty: none
};

// Used by one thread at a time.
class Engine {
 public:
  explicit Engine(Parts parts)
      : parts_(std::move(parts)), network_(parts_.home, ssh_program_beside(parts_.agent_program)) {}

  // Runs one command to its end in a sandbox that lives just as long. An Error means that it never
  // started; what happened to it once it did is the outcome. `decided` is called before it starts.
  Result<model::RunReport> run(const RunRequest& request,
                               const std::function<void(const model::Decision&)>& decided);

 private:
  Parts parts_;
  Network network_;
};

}  // namespace paddock::engine
