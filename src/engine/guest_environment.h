// The environment of a command: nothing of the caller's but terminal, locale and what policy names.
#pragma once

#include <map>
#include <string>
#include <utility>
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

// Adds variables; one that is there already is kept or replaced.
enum class Present { kept, replaced };
void set_variables(GuestEnvironment& guest,
                   const std::vector<std::pair<std::string, std::string>>& variables,
                   Present present);

}  // namespace paddock::engine
