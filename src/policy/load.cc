#include "policy/load.h"

#include <fmt/core.h>

#include "base/strings.h"

namespace paddock::policy {
namespace {

// The XDG base directory specification has a relative path ignored.
std::string user_policy(const Places& places) {
  std::string config = places.config_home;
  if (config.empty() || config[0] != '/') {
    if (places.home.empty()) return "";
    config = places.home + "/.config";
  }
  return config + "/paddock/policy.toml";
}

}  // namespace

Result<std::vector<Tier>> load_tiers(const Places& places, const Loader& load) {
  std::string project = places.workspace.empty() ? "" : places.workspace + "/" + kProjectPolicy;
  std::vector<Tier> tiers;
  for (auto& [kind, path] :
       {std::pair(TierKind::admin, places.admin), std::pair(TierKind::user, user_policy(places)),
        std::pair(TierKind::project, project)}) {
    if (path.empty()) continue;
    std::string doing =
        fmt::format("reading the {} policy {}", name_of(kTierNames, kind), printable(path));
    auto text = PD_TRY_CTX(doing, load(kind, path));
    if (text) tiers.push_back({kind, path, std::move(*text)});
  }
  return tiers;
}

}  // namespace paddock::policy
