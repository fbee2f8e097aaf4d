#include "engine/live/start_up.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/strings.h"
#include "engine/agent_setup.h"
#include "engine/egress_setup.h"
#include "engine/gate_trust.h"
#include "engine/live/code_interpreter.h"
#include "policy/egress_text.h"
#include "policy/level_choice.h"
#include "sys/files.h"

namespace paddock::engine {
namespace {

using isolation::Sandbox;

std::map<std::string, std::string> as_map(const std::vector<std::string>& variables) {
  std::map<std::string, std::string> out;
  for (const std::string& variable : variables) {
    const size_t equals = variable.find('=');
    out.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return out;
}

// Nothing can be mounted over a link, which the root's own sudo may be.
const char* sudo_place(const std::optional<model::HostPath>& root) {
  const auto own = sys::lstat_path((root ? root->str() : "") + kSudoInside);
  return own.ok() && S_ISLNK(own->st_mode) ? "/usr/local/bin/sudo" : kSudoInside;
}

// What the root directory itself holds beside mount points. Of root, by `mode`.
struct BareDirectory {
  const char* name;
  mode_t mode;
};
constexpr std::array kBareRoot{BareDirectory{".", 0755},       BareDirectory{"mnt", 0755},
                               BareDirectory{"root", 0700},    BareDirectory{"srv", 0755},
                               BareDirectory{"var", 0755},     BareDirectory{"var/cache", 0755},
                               BareDirectory{"var/lib", 0755}, BareDirectory{"var/log", 0755}};

// Root inside makes directories in /, as programs expect; without a tree there it is sealed.
Status add_root_directory(const model::HostPath& home, model::FileSystem& files) {
  const model::HostPath bare = home / "images" / "bare-root";
  PD_TRY_CTX("preparing the root directory", sys::make_dirs(bare.str(), 0755));
  for (const BareDirectory& directory : kBareRoot) {
    const std::string path = (bare / directory.name).str();
    PD_TRY_CTX("preparing the root directory", sys::make_dir(path, directory.mode));
    if (::chmod(path.c_str(), directory.mode) != 0) {  // whatever the umask
      return Error::from_errno(errno, "preparing the root directory");
    }
  }
  files.overlays.push_back({model::GuestPath("/"), {bare}, std::nullopt});
  return {};
}

bool has_root_tree(const model::FileSystem& files) {
  return std::ranges::any_of(files.overlays, [](const model::OverlayTree& tree) {
    return tree.at == model::GuestPath("/");
  });
}

std::vector<std::string> describe(const EgressSource& granted) {
  std::vector<std::string> lines;
  for (const auto& list : granted.policy.lists) {
    for (const model::EgressRule& rule : list) lines.push_back(policy::describe(rule));
  }
  if (!granted.nothing_because.empty()) lines.push_back("nothing: " + granted.nothing_because);
  return lines;
}

// nullptr: nothing leaves.
Result<std::unique_ptr<LiveNetwork>> begin_network(LivePlan& plan, const LiveEgress& egress) {
  if (egress.granted->policy.lists.empty()) return std::unique_ptr<LiveNetwork>();
  auto network = PD_TRY(LiveNetwork::begin({egress.network, egress.granted, plan.placeholder_key},
                                           plan.run.sandbox.id, plan.run.egress));
  // Even if no TLS is opened yet: headers may be asked for later.
  PD_TRY_CTX("making programs trust the gate", add_trust(egress.network, plan.run));
  if (!plan.run.egress.ssh_hosts.empty()) {
    PD_TRY_CTX("making programs know the gate", add_ssh_trust(network->gate(), plan.run));
  }
  return network;
}

}  // namespace

bool is_built_in(std::string_view template_name) {
  return std::ranges::find(kBuiltInTemplates, template_name) != kBuiltInTemplates.end();
}

Result<LivePlan> plan_live(const Parts& parts, const policy::Compiled& policy,
                           const LiveEgress& egress, const LiveRequest& wanted) {
  if (wanted.template_name == "desktop" || wanted.template_name == "mcp-gateway") {
    return Error(Code::unsupported,
                 fmt::format("template '{}' is not built yet", wanted.template_name))
        .set_remedy("use base or code-interpreter-v1");
  }
  const bool interprets = wanted.template_name == kCodeInterpreter;
  if (!wanted.root && !is_built_in(wanted.template_name)) {
    return Error(Code::not_found,
                 fmt::format("template '{}' not found", printable(wanted.template_name)));
  }
  policy::LevelChoice choice = PD_TRY(policy::resolve_level(policy.settings));
  model::Decision decision;
  decision.level = choice.level;
  decision.trust = policy.settings.trust;
  decision.accepted_by = choice.accepted_by;
  RunRequest request;
  request.policy = policy;
  const LiveWorkspace* workspace = wanted.workspace;
  request.policy.settings.mode =
      workspace != nullptr ? model::WorkspaceMode::overlay : model::WorkspaceMode::none;
  if (workspace != nullptr) {
    request.workspace = workspace->directory;
    request.workspace_as_spelled = workspace->as_spelled;
    request.directory = workspace->directory;
    request.caller_home = wanted.caller_home;
    request.view = workspace->view;
  }
  if (wanted.root) request.policy.settings.rootfs = wanted.root->str();
  request.policy.settings.sockets = {};  // no socket of the host is carried to a live sandbox yet
  LivePlan plan;
  plan.granted = egress.granted;
  plan.placeholder_key = make_sandbox_key();
  request.egress =
      PD_TRY(plan_from(PD_TRY(narrow(*egress.granted, wanted.network)), plan.placeholder_key));
  plan.level = choice.level;
  plan.limits = policy.settings.limits;
  plan.run = PD_TRY(make_run_plan(request, parts, decision));
  plan.run.sandbox.user = kLiveUser;
  if (interprets) PD_TRY(add_code_interpreter(parts.share, plan.run));
  auto show_agent = [&](const char* at) {
    plan.run.sandbox.files.binds.push_back(
        {model::GuestPath(at), parts.agent_program, model::Access::read_only});
  };
  show_agent(kAgentInside);
  // Root inside could read there what the workspace's owner may not.
  if (::geteuid() == 0 && workspace == nullptr) {
    plan.run.sandbox.users = isolation::Users::several;
    show_agent(sudo_place(wanted.root));
    if (!has_root_tree(plan.run.sandbox.files)) {
      PD_TRY(add_root_directory(parts.home, plan.run.sandbox.files));
    }
  }
  return plan;
}

Result<StartedUp> start_up(const Parts& parts, LivePlan plan, const StartUp& options) {
  // Before the sandbox, so that it is still there when the last of it goes.
  std::unique_ptr<LiveNetwork> network = PD_TRY(begin_network(plan, options.egress));
  std::unique_ptr<isolation::Backend> backend = PD_TRY_CTX(
      fmt::format("running {} code", name_of(model::kTrustNames, plan.run.decision.trust)),
      parts.make_backend(plan.level));
  std::unique_ptr<Sandbox> sandbox = PD_TRY(backend->start(plan.run.sandbox));
  auto link = std::make_unique<AgentLink>(sandbox->stream());
  AgentSetup agent{.deadline_ms = options.deadline_ms, .egress = {}};
  std::unique_ptr<EgressBridge> bridge;
  if (network) {
    const auto form = sandbox->setup().egress().form();
    agent.egress = egress_setup(form, plan.run.egress.literals);
    set_variables(plan.run.environment, proxy_variables(form), Present::kept);
    bridge = PD_TRY(network->make_bridge(*link));
  }
  PD_TRY(set_up_agent(*sandbox, *link, std::move(agent)));
  sys::SocketFd waiting(::fcntl(sandbox->stream().get(), F_DUPFD_CLOEXEC, 3));
  if (!waiting.is_open()) return Error::from_errno(errno, "watching the agent's stream");

  LiveSetup setup;
  setup.decision = std::move(plan.run.decision);
  for (const model::Control& control : sandbox->controls()) {
    setup.decision.controls.push_back(control);
  }
  const model::Control pausing = sandbox->pausing();
  if (pausing.state == model::ControlState::enforced) {
    setup.stopped_by = LiveSetup::StoppedBy::isolation;
  }
  setup.decision.controls.push_back(pausing);
  setup.limits = plan.limits;
  setup.workspace = std::move(plan.workspace);
  setup.lifetime = plan.run.sandbox.lifetime;
  setup.egress = describe(*options.egress.granted);
  setup.placeholder_key = plan.placeholder_key;
  setup.home = kGuestHome;
  setup.environment = as_map(plan.run.environment.variables);
  setup.users = plan.run.sandbox.users;
  const bool by_root = ::geteuid() == 0;
  setup.user = {.name = setup.environment["USER"],
                .uid = by_root ? kLiveUser : ::geteuid(),
                .gid = by_root ? kLiveUser : ::getegid(),
                .groups = {},
                .home = setup.home,
                .shell = setup.environment["SHELL"]};
  sandbox->confine(setup.start);
  setup.start.set_landlock_unscoped(true);  // commands of one sandbox signal each other
  return StartedUp{std::move(setup), LiveParts{std::move(backend), std::move(sandbox),
                                               std::move(link), std::move(waiting), options.worker,
                                               std::move(network), std::move(bridge)}};
}

Result<Rejoined> rejoin_network(const Rejoining& what, AgentLink& link) {
  Rejoined out;
  out.granted = describe(*what.egress.granted);
  if (what.egress.granted->policy.lists.empty()) return out;
  const EgressPlan plan =
      PD_TRY(plan_from(PD_TRY(narrow(*what.egress.granted, what.network)), what.placeholder_key));
  out.network = PD_TRY(LiveNetwork::begin(
      {what.egress.network, what.egress.granted, what.placeholder_key}, what.id, plan));
  out.bridge = PD_TRY(out.network->make_bridge(link));
  return out;
}

}  // namespace paddock::engine
