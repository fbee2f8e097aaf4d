#include "engine/socket_plan.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "engine/trusted_path.h"
#include "policy/mount_text.h"
#include "sys/files.h"
#include "wire/egress.h"

namespace paddock::engine {
namespace {

using model::GuestPath;
using model::HostPath;

Result<sys::DirFd> open_directory(const std::string& path) {
  const sys::DirFd root = PD_TRY(sys::open_dir("/"));
  // O_PATH: the sockets of a directory may be anybody's to use that nobody may list.
  const std::string below = path.size() > 1 ? path.substr(1) : ".";
  return sys::DirFd(PD_TRY(sys::open_beneath(root, below, O_PATH | O_DIRECTORY)));
}

// In most roots /var/run is a link to /run, and nothing is put through a link. Template `host` has
// neither, and gets what is named.
GuestPath place_inside(const std::string& root, const std::string& target) {
  constexpr std::string_view kVarRun = "/var/run/";
  if (root.empty() || !target.starts_with(kVarRun)) return GuestPath(target);
  const auto st = sys::lstat_path(root + "/var/run");
  const bool is_link = st.ok() && S_ISLNK(st->st_mode);
  return GuestPath(is_link ? "/run/" + target.substr(kVarRun.size()) : target);
}

Result<PlannedSocket> plan_socket(const SocketRequest& request, const model::SocketGrant& grant) {
  PlannedSocket planned;
  planned.path = PD_TRY(resolve_outside(grant.source, request.untrusted));
  // The bound holds for what the name leads to by now.
  PD_TRY(policy::check_resolved(request.policy, "sockets",
                                policy::format_socket({planned.path.str(), grant.target})));
  const struct stat st = PD_TRY(sys::lstat_path(planned.path.str()));
  if (!S_ISSOCK(st.st_mode)) {
    return Error(Code::failed_precondition,
                 fmt::format("{} is not a socket", printable(planned.path.str())));
  }
  const size_t slash = planned.path.str().find_last_of('/');
  planned.directory = PD_TRY(open_directory(planned.path.str().substr(0, slash)));
  planned.name = planned.path.str().substr(slash + 1);
  planned.owner = st.st_uid;
  planned.inside = place_inside(request.policy.settings.rootfs.value_or(""), grant.target);
  return planned;
}

std::optional<GuestPath> tree_around(const GuestPath& place, const model::FileSystem& files) {
  for (const model::BindTree& bind : files.binds) {
    if (bind.at.contains(place)) return bind.at;
  }
  for (const model::OverlayTree& tree : files.overlays) {
    if (tree.upper && tree.at.contains(place)) return tree.at;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<PlannedSocket>> plan_sockets(const SocketRequest& request) {
  std::vector<PlannedSocket> planned;
  for (const model::SocketGrant& grant : request.policy.settings.sockets) {
    planned.push_back(
        PD_TRY_CTX("granting the socket " + printable(grant.source), plan_socket(request, grant)));
  }
  if (planned.size() <= wire::kMaxSockets) return planned;
  return Error(Code::resource_exhausted,
               fmt::format("a sandbox gets at most {} sockets of the host", wire::kMaxSockets));
}

Status add_socket_links(const std::vector<PlannedSocket>& sockets, model::FileSystem& files) {
  for (size_t number = 0; number < sockets.size(); ++number) {
    const GuestPath& place = sockets[number].inside;
    if (const auto tree = tree_around(place, files)) {
      return Error(Code::permission_denied,
                   fmt::format("the socket {} cannot appear at {}: {} is a tree of its own",
                               printable(sockets[number].path.str()), printable(place.str()),
                               printable(tree->str())))
          .set_remedy("give it another place inside: SRC:/run/NAME");
    }
    files.symlinks.push_back({place, fmt::format("{}/{}", wire::kSocketsInside, number)});
  }
  return {};
}

std::optional<std::string> ssh_agent_inside(const std::vector<PlannedSocket>& sockets,
                                            const std::map<std::string, std::string>& caller) {
  const auto variable = caller.find("SSH_AUTH_SOCK");
  if (variable == caller.end()) return std::nullopt;
  const auto resolved = resolve_outside(variable->second, {});
  if (!resolved.ok()) return std::nullopt;
  for (const PlannedSocket& socket : sockets) {
    if (socket.path == *resolved) return socket.inside.str();
  }
  return std::nullopt;
}

}  // namespace paddock::engine
