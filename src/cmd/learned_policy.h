// What `paddock run --learn` prints: the smallest policy that would have allowed what was seen.
// Pure.
#pragma once

#include <string>

#include "model/network_record.h"

namespace paddock::cmd {

// [[egress.rule]] tables as TOML, one for each host with its ports and protocol; methods and paths
// where requests were seen. Comments name what no rule can allow. Empty: nothing more was asked for
// than policy allows.
std::string learned_policy(const model::NetworkRecord& record);

}  // namespace paddock::cmd
