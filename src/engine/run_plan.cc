#include "engine/run_plan.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "policy/mount_text.h"
#include "sys/files.h"

namespace paddock::engine {
namespace {

using model::Access;
using model::BindTree;
using model::Control;
using model::ControlState;
using model::FileSystem;
using model::GuestPath;
using model::HostPath;
using model::WorkspaceMode;

// "/a/../b" inside is not a place we mount on.
Status check_guest_path(const std::string& path) {
  auto parts = split(path, '/');
  bool valid = !path.empty() && path[0] == '/' && path.size() > 1 &&
               std::none_of(parts.begin() + 1, parts.end(), [](const std::string& part) {
                 return part.empty() || part == "." || part == "..";
               });
  if (valid) return {};
  return Error(
      Code::invalid_argument,
      fmt::format("'{}' is not a place inside: an absolute path without . and .. is needed",
                  printable(path)));
}

struct Grant {
  std::string_view key;  // the setting that gives it
  model::MountGrant mount;
};

Status add_grant(RunPlan& plan, const RunRequest& request, const HostPath& home, Grant grant) {
  const std::string named = grant.mount.source;
  grant.mount.source = PD_TRY_CTX("granting " + printable(named), sys::real_path(named));
  PD_TRY(check_guest_path(grant.mount.target));
  // The bound holds for what the name leads to by now.
  bool is_mount = grant.key == "mounts";
  PD_TRY(policy::check_resolved(request.policy, grant.key,
                                is_mount ? policy::format_mount(grant.mount) : grant.mount.source));
  HostPath source(grant.mount.source);
  if (source.contains(home) || home.contains(source)) {
    return Error(Code::permission_denied,
                 fmt::format("granting {}: it holds Paddock's own state", printable(named)))
        .set_remedy("name what the command needs, not a directory above it");
  }
  plan.decision.grants.push_back(
      fmt::format("{} {} at {}", grant.mount.access == Access::read_only ? "read" : "write",
                  grant.mount.source, grant.mount.target));
  plan.sandbox.files.binds.push_back(
      BindTree{GuestPath(grant.mount.target), std::move(source), grant.mount.access});
  return {};
}

Status add_grants(RunPlan& plan, const RunRequest& request, const HostPath& home) {
  const model::Settings& settings = request.policy.settings;
  for (const model::MountGrant& mount : settings.mounts) {
    PD_TRY(add_grant(plan, request, home, {"mounts", mount}));
  }
  for (const std::string& path : settings.files.read) {
    PD_TRY(add_grant(plan, request, home, {"files.read", {path, path, Access::read_only}}));
  }
  for (const std::string& path : settings.files.write) {
    PD_TRY(add_grant(plan, request, home, {"files.write", {path, path, Access::read_write}}));
  }
  for (const std::string& path : settings.files.deny) {
    PD_TRY(check_guest_path(path));
    plan.sandbox.denied_paths.emplace_back(path);
  }
  return {};
}

Status open_view(RunPlan& plan, const RunRequest& request, const Parts& parts) {
  view::OpenOptions options;
  options.workspace =
      request.workspace_as_spelled.empty() ? request.workspace : request.workspace_as_spelled;
  options.files = request.policy.settings.files;
  options.host_exec = request.policy.settings.views.host_exec;
  options.home = parts.home;
  if (!request.caller_home.empty()) options.homes = {request.caller_home};
  plan.view = request.view ? PD_TRY(parts.views.reopen(*request.view, options))
                           : PD_TRY(parts.views.create(options));
  FileSystem& files = plan.sandbox.files;
  for (const model::OverlayTree& tree : plan.view->trees()) files.overlays.push_back(tree);
  for (const model::Symlink& link : plan.view->links()) files.symlinks.push_back(link);
  files.owner_uid = plan.view->owner_uid();
  files.owner_gid = plan.view->owner_gid();
  plan.decision.hidden = plan.view->hidden();
  for (const Control& control : plan.view->controls()) plan.decision.controls.push_back(control);
  return {};
}

Status bind_workspace(RunPlan& plan, const RunRequest& request, const Parts& parts) {
  if (request.view) {
    return Error(Code::invalid_argument, "--continue goes on in a view, and mode `direct` has none")
        .set_remedy("leave --mode out");
  }
  struct stat st = PD_TRY(sys::stat_path(request.workspace.str()));
  plan.sandbox.files.owner_uid = st.st_uid;
  plan.sandbox.files.owner_gid = st.st_gid;
  if (request.workspace.contains(parts.home) || parts.home.contains(request.workspace)) {
    return Error(Code::permission_denied, "the workspace holds Paddock's own state");
  }
  plan.sandbox.files.binds.push_back(
      BindTree{GuestPath(request.workspace.str()), request.workspace, Access::read_write});
  plan.decision.controls.push_back(
      {"files.hide", ControlState::refused,
       "mode `direct` shows the workspace as it is, secrets included"});
  plan.decision.controls.push_back({"view", ControlState::refused,
                                    "mode `direct` writes to the host: nothing to review or undo"});
  return {};
}

Status plan_egress(RunPlan& plan, const RunRequest& request, const Parts& parts) {
  const model::Settings& settings = request.policy.settings;
  const bool has_workspace = settings.mode != WorkspaceMode::none;
  plan.egress =
      request.egress
          ? *request.egress
          : PD_TRY(make_egress_plan({.settings = settings,
                                     .caller_environment = request.caller_environment,
                                     .caller_home = request.caller_home,
                                     .workspace = has_workspace ? request.workspace : HostPath(),
                                     .home = parts.home,
                                     .learning = request.learning}));
  plan.decision.controls.push_back(plan.egress.control);
  for (const std::string& grant : plan.egress.grants) plan.decision.grants.push_back(grant);
  set_variables(plan.environment, plan.egress.placeholders, Present::replaced);
  set_variables(plan.environment, plan.egress.settings, Present::kept);
  return {};
}

// Trees that the code inside may have written, or that hold sockets of other sandboxes.
std::vector<HostPath> untrusted_trees(const RunPlan& plan, const RunRequest& request,
                                      const Parts& parts) {
  std::vector<HostPath> trees{parts.home};
  if (request.policy.settings.mode != WorkspaceMode::none) trees.push_back(request.workspace);
  for (const BindTree& bind : plan.sandbox.files.binds) {
    if (bind.access == Access::read_write) trees.push_back(bind.source);
  }
  for (const model::OverlayTree& tree : plan.sandbox.files.overlays) {  // a git directory elsewhere
    if (tree.upper) trees.insert(trees.end(), tree.lowers.begin(), tree.lowers.end());
  }
  return trees;
}

// When all else of the files is known: a socket must not appear in a tree of the host.
Status add_sockets(RunPlan& plan, const RunRequest& request, const Parts& parts) {
  plan.sockets = PD_TRY(plan_sockets({request.policy, untrusted_trees(plan, request, parts)}));
  PD_TRY(add_socket_links(plan.sockets, plan.sandbox.files));
  for (const PlannedSocket& socket : plan.sockets) {
    plan.decision.grants.push_back(
        fmt::format("socket {} at {}", socket.path.str(), socket.inside.str()));
  }
  plan.decision.controls.push_back(
      {"sockets", ControlState::enforced,
       plan.sockets.empty() ? "no socket of the host"
                            : fmt::format("{} of the host, carried as bytes: no descriptor crosses",
                                          plan.sockets.size())});
  const auto agent = ssh_agent_inside(plan.sockets, request.caller_environment);
  const bool is_set = request.policy.settings.env.contains("SSH_AUTH_SOCK");
  if (agent && !is_set) {
    set_variables(plan.environment, {{"SSH_AUTH_SOCK", *agent}}, Present::replaced);
  }
  return {};
}

}  // namespace

Result<RunPlan> make_run_plan(const RunRequest& request, const Parts& parts,
                              const model::Decision& level_choice) {
  const model::Settings& settings = request.policy.settings;
  RunPlan plan;
  plan.decision = level_choice;
  image::Root root = PD_TRY(parts.images.resolve(settings.rootfs.value_or("host")));
  plan.decision.root_template = root.name;
  plan.decision.controls = std::move(root.controls);
  plan.environment = make_guest_environment(settings, request.caller_environment, root.environment);
  for (const std::string& name : plan.environment.passed) {
    plan.decision.grants.push_back("environment variable " + name);
  }
  PD_TRY(plan_egress(plan, request, parts));
  plan.sandbox.files = std::move(root.files);
  plan.sandbox.limits = settings.limits;
  plan.sandbox.home = GuestPath(kGuestHome);
  plan.sandbox.hostname = kGuestHostname;
  plan.sandbox.agent_program = parts.agent_program;
  PD_TRY(add_grants(plan, request, parts.home));
  switch (settings.mode) {
    case WorkspaceMode::overlay:
      PD_TRY(open_view(plan, request, parts));
      break;
    case WorkspaceMode::direct:
      PD_TRY(bind_workspace(plan, request, parts));
      break;
    case WorkspaceMode::none:
      break;
  }
  PD_TRY(add_sockets(plan, request, parts));
  bool inside =
      settings.mode != WorkspaceMode::none && request.workspace.contains(request.directory);
  plan.directory = GuestPath(inside ? request.directory.str() : kGuestHome);
  return plan;
}

}  // namespace paddock::engine
