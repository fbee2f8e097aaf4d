// Settings of policy as options of a verb.
#pragma once

#include <vector>

#include "policy/tier.h"

namespace CLI {
class App;
}

namespace paddock::cmd {

// Every setting with a flag becomes an option; its words go to the policy layer as they are.
void add_settings(CLI::App& verb, std::vector<policy::FlagValue>& flags);

}  // namespace paddock::cmd
