#include "engine/live/start_up.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/strings.h"
#include "engine/agent_setup.h"
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

// Nothing can be mounted over a link, which the machine's own sudo may be.
const char* sudo_place() {
  const auto own = sys::lstat_path(kSudoInside);
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

}  // namespace

Result<LivePlan> plan_live(const Parts& parts, const policy::Compiled& policy,
                           const std::string& template_name) {
  if (template_name != "base") {
    return Error(Code::not_found, fmt::format("template '{}' not found", printable(template_name)));
  }
  policy::LevelChoice choice = PD_TRY(policy::resolve_level(policy.settings));
  model::Decision decision;
  decision.level = choice.level;
  decision.trust = policy.settings.trust;
  decision.accepted_by = choice.accepted_by;
  RunRequest request;
  request.policy = policy;
  request.policy.settings.mode = model::WorkspaceMode::none;
  request.policy.settings.egress = {};  // nothing leaves a live sandbox yet
  LivePlan plan;
  plan.level = choice.level;
  plan.limits = policy.settings.limits;
  plan.run = PD_TRY(make_run_plan(request, parts, decision));
  plan.run.sandbox.user = kLiveUser;
  auto show_agent = [&](const char* at) {
    plan.run.sandbox.files.binds.push_back(
        {model::GuestPath(at), parts.agent_program, model::Access::read_only});
  };
  show_agent(kAgentInside);
  if (::geteuid() == 0) {
    plan.run.sandbox.users = isolation::Users::several;
    show_agent(sudo_place());
    PD_TRY(add_root_directory(parts.home, plan.run.sandbox.files));
  }
  return plan;
}

Result<StartedUp> start_up(const Parts& parts, LivePlan plan, net::Worker& worker,
                           uint64_t deadline_ms) {
  std::unique_ptr<isolation::Backend> backend = PD_TRY_CTX(
      fmt::format("running {} code", name_of(model::kTrustNames, plan.run.decision.trust)),
      parts.make_backend(plan.level));
  std::unique_ptr<Sandbox> sandbox = PD_TRY(backend->start(plan.run.sandbox));
  auto link = std::make_unique<AgentLink>(sandbox->stream());
  PD_TRY(set_up_agent(*sandbox, *link, {.deadline_ms = deadline_ms, .egress = {}}));
  sys::SocketFd waiting(::fcntl(sandbox->stream().get(), F_DUPFD_CLOEXEC, 3));
  if (!waiting.is_open()) return Error::from_errno(errno, "watching the agent's stream");

  LiveSetup setup;
  setup.decision = std::move(plan.run.decision);
  for (const model::Control& control : sandbox->controls()) {
    setup.decision.controls.push_back(control);
  }
  setup.limits = plan.limits;
  setup.lifetime = plan.run.sandbox.lifetime;
  setup.home = kGuestHome;
  setup.environment = as_map(plan.run.environment.variables);
  setup.users = plan.run.sandbox.users;
  const bool has_users = setup.users == isolation::Users::several;
  setup.user = {.name = setup.environment["USER"],
                .uid = has_users ? kLiveUser : ::geteuid(),
                .gid = has_users ? kLiveUser : ::getegid(),
                .groups = {},
                .home = setup.home,
                .shell = setup.environment["SHELL"]};
  sandbox->confine(setup.start);
  setup.start.set_landlock_unscoped(true);  // commands of one sandbox signal each other
  return StartedUp{std::move(setup), LiveParts{std::move(backend), std::move(sandbox),
                                               std::move(link), std::move(waiting), worker}};
}

}  // namespace paddock::engine
