// The environment of a command: nothing of the caller's but terminal, locale and what policy names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/settings.h"

namespace paddock::engine {

struct GuestEnvironment {
  std::vector<std::string> variables;  // "K=V", sorted
  std::vector<std::string> passed;     // names that policy or a flag took from the caller
};

// `from_root` are the template's own ("PATH=…", "HOME=…").
GuestEnvironment make_guest_environment(const model::Settings& settings,
                                        const std::map<std::string, std::string>& caller,
                                        const std::vector<std::string>& from_root);

}  // namespace paddock::engine
