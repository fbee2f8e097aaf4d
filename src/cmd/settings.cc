// Context::settings: the policy tiers, read from their files.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <optional>
#include <utility>

#include "base/strings.h"
#include "cmd/context.h"
#include "policy/load.h"
#include "sys/files.h"

namespace paddock::cmd {
namespace {

constexpr size_t kMaxPolicyFile = 1u << 20;

using policy::TierKind;

// The project's file is the workspace's word: no link of it may make us read another file.
Result<sys::Fd> open_policy(TierKind kind, const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_NONBLOCK;
  if (kind != TierKind::project) return sys::Fd(PD_TRY(sys::open_file(path, kFlags)));
  size_t slash = path.find_last_of('/');
  sys::DirFd directory = PD_TRY(sys::open_dir(path.substr(0, slash + 1)));
  return sys::open_beneath(directory, path.substr(slash + 1), kFlags);
}

Result<std::optional<std::string>> load_policy(TierKind kind, const std::string& path) {
  auto opened = open_policy(kind, path);
  if (!opened.ok()) {
    if (opened.error().code() == Code::not_found) return std::optional<std::string>();
    return std::move(opened).error();
  }
  struct stat st {};
  if (::fstat(opened->get(), &st) != 0 || !S_ISREG(st.st_mode)) {
    return Error(Code::invalid_argument, "not a regular file");
  }
  if (kind == TierKind::admin && (st.st_uid != 0 || (st.st_mode & 0022) != 0)) {
    return Error(Code::permission_denied, "others than root can change it")
        .set_remedy(fmt::format("chown root {0} && chmod go-w {0}", path));
  }
  return std::optional(PD_TRY(sys::read_all(*opened, kMaxPolicyFile)));
}

}  // namespace

Result<policy::Compiled> Context::settings(const model::HostPath& workspace,
                                           const std::vector<policy::FlagValue>& flags) const {
  policy::Places places;
  auto config = caller_.environment.find("XDG_CONFIG_HOME");
  if (config != caller_.environment.end()) places.config_home = config->second;
  places.home = caller_.home.str();
  places.workspace = workspace.str();
  policy::Sources sources;
  sources.tiers = PD_TRY(policy::load_tiers(places, load_policy));
  sources.flags = flags;
  sources.home = caller_.home.str();
  return policy::compile(sources);
}

}  // namespace paddock::cmd
