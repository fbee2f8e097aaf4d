// Preset "git-hosts": the servers of the remotes of the workspace's repository.
#pragma once

#include <vector>

#include "egress/presets/registries.h"

namespace paddock::egress {

// Fetching over https (pushing needs a rule of its own, which names the refs), and ssh to the hosts
// that a remote reaches so. A workspace without git or remotes gives none.
std::vector<model::EgressRule> git_host_rules(const HostTools& tools, const std::string& workspace);

}  // namespace paddock::egress
